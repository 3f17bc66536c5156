"""Templates of the screens, one environment per language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from thresher_ui.dashboard import charts
from thresher_ui.dashboard.translations import Texts, texts_in
from thresher_ui.dashboard.untrusted_text import escaped, visible, web_address


@cache
def environment(language: str) -> Environment:
    """Build the template environment of a language; it escapes everything, and an undefined name is an error."""
    texts = texts_in(language)
    made = Environment(
        loader=PackageLoader("thresher_ui.dashboard", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.policies["ext.i18n.trimmed"] = True
    made.install_gettext_translations(texts.translations, newstyle=True)  # type: ignore[attr-defined]
    made.filters.update(_filters(texts))
    made.globals.update(_globals(texts))
    return made


def _filters(texts: Texts) -> dict[str, Any]:
    return {
        "number": texts.number,
        "plain": texts.plain,
        "share": texts.share,
        "duration": texts.duration,
        "moment": texts.moment,
        "translated": texts.translated,
        "named": texts.named,
        "part": texts.part,
        "visible": visible,
        "escaped": escaped,
        "web_address": web_address,
    }


def _globals(texts: Texts) -> dict[str, Any]:
    return {
        "texts": texts,
        "harvest_chart": partial(charts.harvest_chart, texts=texts),
        "sparkline": partial(charts.sparkline, texts=texts),
        "thinned": charts.thinned,
        "histogram": partial(charts.histogram, texts=texts),
        "bar": charts.bar,
    }


def render(template: str, texts: Texts, values: Mapping[str, Any]) -> str:
    """Render a template in a language."""
    return environment(texts.language).get_template(template).render(values)
