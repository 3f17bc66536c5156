"""A stand-in of the MediaWiki Action API: search, page information, external links, language links, categories.

After mediawiki.org, "API:Query" (generators, ``formatversion=2``), "API:Search", "API:Info" (``inprop=url``),
"API:Extlinks", "API:Langlinks" and "API:Categorymembers", read on 2026-11-17. Pages are a list in ``query.pages``, a
page that is not there has ``missing``; without any result there is no ``query``. An error is ``{"error": {"code",
"info"}}`` with status 200.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from testing.seed_services.service import Parameters, Service


@dataclass(frozen=True, kw_only=True)
class Article:
    """An article of one language."""

    title: str
    url: str
    external: Sequence[str] = ()
    categories: Sequence[str] = ()
    languages: dict[str, str] = field(default_factory=dict)


class MediaWikiService(Service):
    """Wikis of several languages; the path of a wiki starts with its language."""

    path = "/{language}/w/api.php"

    def __init__(self, articles: dict[str, Sequence[Article]]) -> None:
        super().__init__()
        self._articles = articles

    def answer(self, path: str, parameters: Parameters) -> tuple[int, Any]:
        language = path.split("/")[1]
        given = {name: values[0] for name, values in parameters.items()}
        if given.get("action") != "query" or given.get("formatversion") != "2":
            return 200, {"error": {"code": "badvalue", "info": 'Unrecognized value for parameter "action".'}}
        found = self._selected(self._articles.get(language, ()), given)
        if not found:
            return 200, {"batchcomplete": True}
        return 200, {"batchcomplete": True, "query": {"pages": [_page(each, given, n) for n, each in enumerate(found)]}}

    def _selected(self, articles: Sequence[Article], given: dict[str, str]) -> Sequence[Article | str]:
        generator = given.get("generator")
        if generator == "search":
            words = given["gsrsearch"].lower().split()
            ranked = sorted(articles, key=lambda each: -sum(word in each.title.lower() for word in words))
            hits = [each for each in ranked if any(word in each.title.lower() for word in words)]
            return list(hits[: int(given["gsrlimit"])])
        if generator == "categorymembers":
            category = given["gcmtitle"].partition(":")[2]
            return [each for each in articles if category in each.categories][: int(given["gcmlimit"])]
        named = [each for each in articles if each.title == given.get("titles")]
        return list(named) or [given.get("titles", "")]


def _page(article: Article | str, given: dict[str, str], place: int) -> dict[str, Any]:
    if isinstance(article, str):
        return {"ns": 0, "title": article, "missing": True}
    page: dict[str, Any] = {"pageid": place + 1, "ns": 0, "title": article.title, "fullurl": article.url}
    if given.get("generator") == "search":
        page["index"] = place + 1
    if "extlinks" in given["prop"] and article.external:
        page["extlinks"] = [{"url": url} for url in article.external]
    if "langlinks" in given["prop"] and given.get("lllang") in article.languages:
        page["langlinks"] = [{"lang": given["lllang"], "title": article.languages[given["lllang"]]}]
    return page
