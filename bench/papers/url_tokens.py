"""What URLs say about topics, and how often they only seem to: ``python -m bench.papers.url_tokens``.

Three parts. Hosts of the Open Directory, whose top category people chose: precision and recall of "the host's name
spells the category", by the rule for short spellings, by length and by kind. Hosts and paths of a Chinese university:
how often spellings of other disciplines match. And what one URL costs. Hosts fall into two halves by a hash of their
name; the table and the rule may be corrected after a look at ``dev``, figures are those of ``test``. Needs
dmoz_hosts15.tsv.zst and nankai_zh.pages.jsonl.zst in THRESHER_WEBS.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import zstandard

from bench.papers.url_token_families import DISCIPLINES, FAMILIES, OFFICES, SECTIONS
from thresher.topics.profile import UrlEvidence
from thresher.topics.token_table import SpellingKind, TokenTable
from thresher.urls.tokens import host_block, path_blocks, spellings, split_host
from thresher_lab.webs.webstore import webs_folder

TABLE = TokenTable.shipped()
RULES = {"contained": 0, "whole up to 2": 2, "whole up to 3": 3, "whole up to 4": 4, "whole up to 5": 5, "begins": -3}
"""Up to how many letters a spelling must be a whole token; the last one asks those of up to 3 only to begin one."""
LENGTHS = {"2": (2, 2), "3": (3, 3), "4": (4, 4), "5": (5, 5), "6-7": (6, 7), "8 and more": (8, 99)}


class Claim(NamedTuple):
    """A spelling of a topic that stands in a URL."""

    topic: str
    spelling: str
    kind: SpellingKind
    whole: bool
    begins: bool

    def holds(self, up_to: int) -> bool:
        """Whether it is a match under a rule."""
        return self.whole or len(self.spelling) > abs(up_to) or (up_to < 0 and self.begins)


class Case(NamedTuple):
    """Something labelled, and what its URL claims."""

    truth: frozenset[str]
    claims: list[Claim]


class Speller:
    """Finds all claims of some rows of the table."""

    def __init__(self, topics: dict[str, Sequence[str]]) -> None:
        self._meanings: dict[str, dict[str, SpellingKind]] = defaultdict(dict)
        for topic, labels in topics.items():
            for spelling, kind in TABLE.spellings(labels).items():
                self._meanings[spelling][topic] = kind

    def claims(self, tokens: Sequence[str]) -> list[Claim]:
        """Find every spelling inside every token."""
        text = "\n".join(tokens)
        parts = {part for token in tokens for part in (token, *token.replace("_", "-").replace("+", "-").split("-"))}
        return [
            Claim(topic, spelling, kind, spelling in parts, any(part.startswith(spelling) for part in parts))
            for spelling, meanings in self._meanings.items()
            if spelling in text
            for topic, kind in meanings.items()
        ]


def lines(name: str) -> Iterator[str]:
    with (Path(webs_folder()) / name).open("rb") as packed:
        yield from io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8")


def half(host: str) -> str:
    return "dev" if hashlib.sha256(host.encode()).digest()[0] % 2 else "test"


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", sep="\n")
    for row in rows:
        print(f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |")
    print()


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def quality(cases: Sequence[Case], topics: Iterable[str], up_to: int) -> tuple[int, int, int]:
    """Count over topics the cases that are claimed for one, those claimed rightly, and those that are of it."""
    printed = right = true = 0
    wanted = set(topics)
    for case in cases:
        claimed = {claim.topic for claim in case.claims if claim.holds(up_to)} & wanted
        printed, right, true = (
            printed + len(claimed),
            right + len(claimed & case.truth),
            true + len(case.truth & wanted),
        )
    return printed, right, true


def quality_row(name: str, counts: tuple[int, int, int]) -> list[object]:
    printed, right, true = counts
    F1 = 2 * right / (printed + true) if printed + true else 0.0
    return [name, printed, right, percent(right, printed), percent(right, true), f"{100 * F1:.1f}"]


def print_rules(cases: Sequence[Case], topics: Iterable[str]) -> None:
    topics = list(topics)
    head = ["short spellings", "claims", "right", "precision %", "recall %", "F1 %"]
    print_table(head, [quality_row(rule, quality(cases, topics, up_to)) for rule, up_to in RULES.items()])


def print_topics(cases: Sequence[Case], topics: Iterable[str]) -> None:
    head = ["topic", "of it", "contained: claims", "precision %", "recall %", "whole up to 3: claims", "precision %"]
    rows: list[list[object]] = []
    for topic in topics:
        printed, right, true = quality(cases, [topic], 0)
        strict, strictly_right, _ = quality(cases, [topic], 3)
        rows.append([topic, true, printed, percent(right, printed), percent(right, true), strict])
        rows[-1] += [percent(strictly_right, strict), percent(strictly_right, true)]
    print_table([*head, "recall %"], rows)


def print_claims(cases: Sequence[Case]) -> None:
    """Tell single claims, by the length and kind of their spelling, contained and whole, against chance."""
    share = Counter(topic for case in cases for topic in case.truth)
    seen: dict[tuple[str, bool], list[float]] = defaultdict(lambda: [0, 0, 0])
    for claim, truth in ((claim, case.truth) for case in cases for claim in case.claims):
        length = next(name for name, (low, high) in LENGTHS.items() if low <= len(claim.spelling) <= high)
        for group in (claim.kind.value, f"{length} letters"):
            for whole in {False, claim.whole}:
                cell = seen[group, whole]
                cell[0] += 1
                cell[1] += claim.topic in truth
                cell[2] += share[claim.topic] / len(cases)
    head = ["spelling", "contained", "precision %", "by chance %", "whole token", "precision %", "by chance %"]
    rows: list[list[object]] = []
    for group in [kind.value for kind in SpellingKind] + [f"{length} letters" for length in LENGTHS]:
        row: list[object] = [group]
        for number, right, chance in (seen[group, False], seen[group, True]):
            row += [int(number), percent(right, number), percent(chance, number)]
        rows.append(row)
    print_table(head, rows)


def directory_hosts(part: str) -> None:
    """Part one: hosts of the Open Directory."""
    own, family = Speller({category: labels[:1] for category, labels in FAMILIES.items()}), Speller(FAMILIES)
    cases: dict[str, list[Case]] = {"own": [], "family": []}
    for line in list(lines("dmoz_hosts15.tsv.zst"))[1:]:
        host, categories, _ = line.rstrip("\n").split("\t")
        if half(host) == part:
            truth = frozenset(categories.split("|")) & FAMILIES.keys()
            tokens = spellings([host_block(host)])
            cases["own"].append(Case(truth, own.claims(tokens)))
            cases["family"].append(Case(truth, family.claims(tokens)))
    print(f"## Hosts of the Open Directory: {len(cases['own']):,} ({part}), {len(FAMILIES)} categories\n")
    print("The category's own row of the table:\n")
    print_rules(cases["own"], FAMILIES)
    print_topics(cases["own"], FAMILIES)
    print(f"The category's row and the rows of its subjects, {sum(map(len, FAMILIES.values()))} in all:\n")
    print_rules(cases["family"], FAMILIES)
    print_topics(cases["family"], FAMILIES)
    print("Single claims, of a row for the category it belongs to:\n")
    print_claims(cases["family"])


def print_false(name: str, cases: Sequence[Case], topics: Iterable[str]) -> None:
    """Tell how often a spelling of another topic matches."""
    head = ["spelling", "rule", "false claims", "per 1,000 chances", f"{name} with one or more %"]
    rows: list[list[object]] = []
    wanted = set(topics)
    chances = sum(len(wanted - case.truth) for case in cases)
    for kind in [*SpellingKind, None]:
        for rule in ("contained", "whole up to 3", "begins"):
            wrong = [
                {claim.topic for claim in case.claims if claim.holds(RULES[rule]) and kind in (None, claim.kind)}
                & (wanted - case.truth)
                for case in cases
            ]
            count = sum(map(len, wrong))
            rows.append([kind.value if kind else "any kind", rule, count, f"{1000 * count / chances:.1f}"])
            rows[-1].append(percent(sum(map(bool, wrong)), len(cases)))
    print_table(head, rows)


def university_web() -> None:
    """Part two: a Chinese university, where hosts and directories are pinyin, initials and English."""
    disciplines, sections = Speller(DISCIPLINES), Speller(SECTIONS)
    hosts: dict[str, Case] = {}
    paths: list[Case] = []
    by_section: list[Case] = []
    for line in lines("nankai_zh.pages.jsonl.zst"):
        page = json.loads(line)
        truth = frozenset(page["topics"])
        host, path = split_host(page["url"])
        tokens = spellings(path_blocks(path))
        hosts.setdefault(host, Case(truth, disciplines.claims(spellings([host_block(host)]))))
        if truth:
            paths.append(Case(truth, disciplines.claims(tokens)))
        if page["section"]:
            by_section.append(Case(frozenset(page["section"]), sections.claims(tokens)))
    labelled = [case for case in hosts.values() if case.truth]
    print(f"## A Chinese university: {len(hosts)} hosts, {len(labelled)} of them labelled, {len(DISCIPLINES)} labels\n")
    print("False claims on labelled hosts: a spelling of a label that is not the host's.\n")
    print_false("hosts", labelled, DISCIPLINES)
    print("All claims on hosts without a label; some may be true.\n")
    print_false("hosts", [case for case in hosts.values() if not case.truth], DISCIPLINES)
    print(
        f"False claims of disciplines on the paths of {len(paths):,} labelled pages; a few may be true of the page.\n"
    )
    print_false("pages", paths, DISCIPLINES.keys() - OFFICES)
    print("Circular: claims on hosts against labels that were made from the host.\n")
    print_rules(labelled, DISCIPLINES)
    print(f"Not circular: claims on paths against the section of the breadcrumb, {len(by_section):,} pages.\n")
    print_rules(by_section, SECTIONS)


def cost() -> None:
    """Part three: microseconds per link, with the links as they stand on pages, and with every link once."""
    topics = {
        "Sports/Basketball": [[{"en": "Sports", "zh": "体育"}, {"en": "Basketball", "zh": "篮球"}]],
        "Science/Chemistry, Education/Universities": [
            [{"en": "Science", "zh": "科学"}, {"en": "Chemistry", "zh": "化学"}],
            [{"en": "Education", "zh": "教育"}, {"en": "Universities", "zh": "大学"}],
        ],
    }
    pages = [[link["url"] for link in json.loads(line)["links"]] for line in lines("nankai_zh.pages.jsonl.zst")]
    links = [url for urls in pages for url in urls]
    rows: list[list[object]] = []
    for name, paths in topics.items():
        matched = sum(score > 0 for score in map(UrlEvidence(paths, TABLE).score, links))
        repeated, once = (
            min(_microseconds(UrlEvidence(paths, TABLE), urls) for _ in range(3))
            for urls in (links, sorted(set(links)))
        )
        rows.append([name, len(links), percent(matched, len(links)), f"{repeated:.1f}", len(set(links)), f"{once:.1f}"])
    print("## Cost\n")
    print_table(["topic", "links", "matched %", "µs per link", "distinct links", "µs per link"], rows)


def _microseconds(evidence: UrlEvidence, urls: Sequence[str]) -> float:
    started = time.process_time()  # other work on the machine counts less in it
    for url in urls:
        evidence.score(url)
    return (time.process_time() - started) / len(urls) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.papers.url_tokens", description="What URLs say about topics."
    )
    parser.add_argument("--half", choices=["dev", "test"], default="test", help="of the hosts of the Open Directory")
    parser.add_argument("--only", choices=["directory", "university", "cost"])
    options = parser.parse_args()
    if options.only in (None, "directory"):
        directory_hosts(options.half)
    if options.only in (None, "university"):
        university_web()
    if options.only in (None, "cost"):
        cost()


if __name__ == "__main__":
    main()
