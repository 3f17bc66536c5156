"""A crawl asks sites for Markdown where its user wants that, and reads it as it reads other pages."""

import pytest

from testing.recording_server import Answer, page, recorder
from testing.recording_server.script import Generated
from testing.recording_server.words import TOPIC_WORDS
from tests.faults.live import crawl

TEXT = f"Perovskite solar cells: {' '.join(TOPIC_WORDS)}. " * 8
MARKDOWN = f"""---
description: cells
---
![logo](/logo.png) [Menu](/menu)

# Perovskite *cells*

{TEXT}

See the [inline](/inline "why") page, [the reference][ref], <http://md.test/automatic>,
[![a chart](/chart.png)](/picture) and <a href="/raw">raw <b>markup</b></a>. Not `[code](/code)`.

```
[fenced](/fenced)
```

[ref]: /reference "a title"
"""
LINKED = {"/menu", "/inline", "/reference", "/automatic", "/picture", "/raw"}


def negotiated(request):
    """Answer with Markdown if the client prefers it, as sites that offer both do."""
    accepted = next(value for name, value in request.headers if name.lower() == "accept")
    vary = {"Vary": "Accept"}
    if accepted.startswith("text/markdown"):
        return Answer(body=MARKDOWN, content_type="text/markdown; charset=utf-8", headers=vary)
    return page("Cells in HTML", TEXT, ["/html"], headers=vary)


SITES = {"md.test": {"/": Generated("tests.e2e.test_markdown:negotiated"), "/*": page("More", TEXT)}}


@pytest.mark.parametrize(
    ("documents", "title", "linked"),
    [({}, "Cells in HTML", {"/html"}), ({"prefer_markdown": True}, "Perovskite cells", LINKED)],
)
def test_markdown_is_asked_for_if_the_user_wants_it_and_its_links_are_followed(documents, title, linked):
    with recorder(SITES) as w:
        result = crawl(w, [w.url("md.test")], {"documents": documents, "sitemaps": "off"}, seconds=60)
        paths = {hit.path for hit in w.hits("md.test")}
    [first] = [each for each in result.pages if each["url"] == "http://md.test/"]
    assert paths & {*LINKED, "/html", "/code", "/fenced", "/logo.png", "/chart.png"} == linked
    assert first["title"] == title
    exported = result.thresher("export", "-f", "jsonl", "--markdown")
    assert "Perovskite solar cells" in exported
    assert ("# Perovskite cells" in exported) == bool(documents)
