"""The site can be built without a network and without a warning, and loads nothing from anybody else."""

import os
import re
import subprocess
import sys

import pytest

from tests.docs.blocks import ROOT
from tests.docs.site import FROM_ROOT, breakable_paths, site_links

FOREIGN = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\b(?:src|srcset|data)=[\"']?(?:https?:)?//"
    r"|<link\b(?![^>]*rel=[\"']?canonical)[^>]*href=[\"']?(?:https?:)?//"
    r"|@import\s+[\"']?(?:https?:)?//"
    r"|url\([\"']?(?:https?:)?//",
    flags=re.IGNORECASE,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does; no proxy and no name server could be asked."""
    target = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "https_proxy": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return target


def test_every_page_is_on_the_site(site):
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    for page in (*pages, *FROM_ROOT.values()):
        assert (site / page).with_suffix(".html").is_file(), page


def test_the_site_loads_nothing_from_anybody_else(site):
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".svg")]
    assert len(files) > 50
    for path in files:
        assert not (found := FOREIGN.search(path.read_text(encoding="utf-8"))), f"{path.name}: {found[0]}"


def test_no_script_is_asked_to_fetch_a_drawing(site):
    """The theme's own script would fetch one of another host for drawings that it knows by this class."""
    assert not [path for path in site.rglob("*.html") if 'class="mermaid"' in path.read_text(encoding="utf-8")]


def test_lists_and_tables_are_not_swallowed_by_the_paragraph_before_them(site):
    for path in site.rglob("*.html"):
        text = re.sub(r"<(pre|script)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"<p>[^<]*(<(?!/p>)[^<]*)*\n(- |\|[- ]|\d\. )", text), path.name


@pytest.mark.parametrize(
    ("page", "written", "shown"),
    [
        ("howto/a.md", "[b](b.md#c)", "[b](b.md#c)"),
        ("howto/a.md", "[b](../explanation/b.md)", "[b](../explanation/b.md)"),
        ("howto/a.md", "[`x.py`](../../src/thresher/x.py)", "`x.py`"),
        ("howto/a.md", "[s](../../SECURITY.md)", "[s](../security.md)"),
        ("index.md", "![p](docs/images/p.png)", "![p](images/p.png)"),
        (
            "howto/a.md",
            "![p](../images/dashboard-page.png)",
            "![p](../images/dashboard-page.png#only-light)![p](../images/dashboard-page-dark.png#only-dark)",
        ),
        ("index.md", "[c](CONTRIBUTING.md)", "[c](contributing.md)"),
        ("index.md", "[o](https://example.org/)", "[o](https://example.org/)"),
        ("index.md", "```text\n[b](docs/b.md)\n```", "```text\n[b](docs/b.md)\n```"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(page, written, shown):
    assert site_links(written, page) == shown


def test_paths_in_tables_may_be_broken_and_other_code_may_not():
    cell = "<td>run <code>tests/unit/test_a.py</code> <code>delay_seconds</code></td>"
    broken = "<td>run <code>tests/<wbr>unit/<wbr>test_<wbr>a.py</code> <code>delay_seconds</code></td>"
    assert breakable_paths(f"<p><code>a/b</code></p>{cell}") == f"<p><code>a/b</code></p>{broken}"
