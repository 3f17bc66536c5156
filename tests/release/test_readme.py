"""What the README promises is what the pages behind it have measured; the Chinese one: `test_translations`."""

import re
from itertools import takewhile
from statistics import fmean

import pytest

from bench.effectiveness import as_installed
from bench.effectiveness.flagship import BASELINE, OURS
from bench.effectiveness.readme_picture import PICTURE, ROWS, draw, shares
from bench.effectiveness.verdict_topics import LANGUAGES
from testing.building import ROOT
from thresher.registry import known
from thresher_lab.peers import peers
from thresher_lab.simulation.compare import read_rows

ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh-CN.md"
FAULTS, FLAGSHIP = "reference/faults.md", "measurements/strategies.md"
PROMISES = {
    "no URL is lost": (FAULTS, r"\| R1 \|.*lost (0 of 20,000)", ["{0} lost"]),
    "manners": (FAULTS, r"\| P2-redis \|.*(\d) violations in ([\d,]+) gaps", ["{0} violations in {1} gaps"]),
    "addresses": (FAULTS, r"\| S1 \|.*connects = (\d) of (\d+) forms", ["{0} connections for {1} forms"]),
    "in the picture": (FLAGSHIP, r"picture of the README.* reaches ([\d.]+) %", ["{0:.0f} % of the area"]),
    "against others": (
        FLAGSHIP,
        r"\| fcmrps \| ([\d.]+) (?:.*\n)*?\| crawl4ai-url-scorer \| ([\d.]+) ",
        ["literature reaches {0:.0f} %", "crawlers {1:.0f} %"],
    ),
    "what it costs": (FLAGSHIP, r"in one run: ([\d.]+) ms of processor time per page", ["takes {0} ms"]),
}
"""Where a figure was measured, how it is written there, and how the README says it."""
CLAIMS, MAX_LINES = 6, 120


def words_of(page):
    """Return a README as one line, with a digit before every point."""
    return re.sub(r"(?<!\d)\.(?=\d)", "0.", " ".join(page.read_text(encoding="utf-8").split()))


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_is_what_was_measured(promise):
    page, measured, printed = PROMISES[promise]
    found = re.search(measured, (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert found, f"docs/{page} has no such figure"
    for sentence in printed:
        as_numbers = ":." in sentence
        figures = [float(figure) if as_numbers else figure for figure in found.groups()]
        assert sentence.format(*figures) in words_of(ENGLISH)


def test_what_a_user_gets_is_the_mean_of_the_rows():
    rows = read_rows(as_installed.ROWS)

    def mean(measure, language, seeds, strategy=OURS):
        own = [row for row in rows if (row["seeds"], row["strategy"]) == (seeds, strategy)]
        return fmean(row[measure] for row in own if LANGUAGES[row["web"]] == language and row[measure] is not None)

    def found(*crawls):
        return f"{100 * mean('found', *crawls):.0f} %"

    def f1(*crawls):
        return f"{mean('f1', *crawls):.2f}"

    english, chinese = "English", "Chinese"
    assert len({row["topic"] for row in rows if LANGUAGES[row["web"]] == english}) == 20
    for sentence in (
        f"{found(english, 1)} of the topic's pages are found, where breadth-first finds {found(english, 1, BASELINE)}; "
        f"F1 of the verdicts {f1(english, 1)}.",
        f"On two Chinese sites {found(chinese, 1)} and {f1(chinese, 1)} (10 topics).",
        f"With three seeds {found(english, 3)} and {f1(english, 3)}, Chinese {found(chinese, 3)} and {f1(chinese, 3)} ",
    ):
        assert sentence in words_of(ENGLISH)


def test_there_are_six_claims():
    assert len(claims_of(ENGLISH)) == CLAIMS


def test_the_page_behind_a_claim_names_its_command():
    for _, measured, command in claims_of(ENGLISH):
        [page] = re.findall(r"\]\(([^)]+)\)", measured)
        text = (ROOT / page).read_text(encoding="utf-8")
        assert command.strip("`") in text, command


def claims_of(page):
    """Return the rows of the first table."""
    lines = page.read_text(encoding="utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("|---"))
    rows = takewhile(lambda line: line.startswith("|"), lines[begin + 1 :])
    return [row.strip("| ").split(" | ") for row in rows]


def test_a_readme_is_short():
    assert max(len(page.read_text(encoding="utf-8").splitlines()) for page in (ENGLISH, CHINESE)) < MAX_LINES


def test_the_picture_is_drawn_from_the_rows_and_its_figures_are_those_of_the_text(tmp_path):
    from matplotlib.image import imread

    rows = read_rows(ROWS)
    draw(rows, tmp_path / "picture.png")
    drawn, shown = imread(tmp_path / "picture.png"), imread(PICTURE)
    assert drawn.shape == shown.shape
    assert abs(drawn - shown).mean() < 0.01
    text = words_of(ENGLISH)
    assert f"{shares(rows)[OURS]:.0f} % of the area" in text
    assert f"{BASELINE} makes {shares(rows)[BASELINE]:.0f} %" in text


def test_strategies_are_counted_right():
    assert (len(known("strategy")), len(peers())) == (27, 7)
    assert "Twenty-seven strategies" in words_of(ENGLISH)
    assert "best of seven strategies of other crawlers" in words_of(ENGLISH)
