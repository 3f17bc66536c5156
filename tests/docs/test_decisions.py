"""Every record of a decision has the same parts, and is reached from the index and from a page that explains it."""

import re

import pytest

from tests.docs.blocks import ROOT
from tests.docs.test_links import LINK, prose

FOLDER = ROOT / "docs" / "decisions"
INDEX = FOLDER / "index.md"
RECORDS = sorted(set(FOLDER.glob("*.md")) - {INDEX})
PARTS = ["Context", "Decision", "Consequences", "What would change it"]
DATES = re.compile(
    r"\*\*Status:\*\* (accepted|replaced by \[.+\))\. "
    r"\*\*In the code since:\*\* (?P<since>\d{4}-\d\d-\d\d)[^*]*\. \*\*Recorded:\*\* \d{4}-\d\d-\d\d\."
)
MAX_WORDS = 320
each_record = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)


def targets(page):
    """Return the files that a page links to."""
    return {(page.parent / link["path"]).resolve() for link in LINK.finditer(prose(page)) if link["path"]}


@each_record
def test_a_record_has_a_number_a_status_and_four_parts(record):
    text = record.read_text(encoding="utf-8")
    assert text.startswith(f"# {int(record.stem[:4])}. ")
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == PARTS
    assert DATES.search(text)
    assert len(text.split()) <= MAX_WORDS


@each_record
def test_the_index_has_its_title_and_its_day(record):
    text = record.read_text(encoding="utf-8")
    number, _, title = text.partition("\n")[0].removeprefix("# ").partition(". ")
    since = DATES.search(text)["since"]
    assert f"| {number} | [{title}]({record.name}) | {since} |" in INDEX.read_text(encoding="utf-8")


@each_record
def test_a_page_that_explains_the_subject_links_to_it_and_is_linked(record):
    explaining = {page for page in (ROOT / "docs" / "explanation").glob("*.md") if record in targets(page)}
    assert explaining
    assert explaining & targets(record)


def test_numbers_follow_each_other():
    assert [int(record.stem[:4]) for record in RECORDS] == [*range(1, len(RECORDS) + 1)]
