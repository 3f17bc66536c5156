"""Near duplicates in a planted set: ``python -m bench.collection.duplicates [--texts N]``.

Real texts, articles of an encyclopedia in English and news in Chinese, each set into the frame of a site. Of each there
are five more versions that a reader would call the same: on a mirror with another frame, with another date and counter,
as a bare print version, with one sentence in 20 rewritten, with the end cut off. And one that is not: every second
sentence is from another text. Pages that share a frame and nothing else are the other temptation. All are parsed, their
main text is taken, and they are grouped in random order, as a crawl would bring them. Precision and recall are those of
pairs. SimHash (Manku, Jain and Das Sarma, WWW 2007) is set beside it. Needs THRESHER_WEBS.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple
from zlib import crc32

import numpy as np
import zstandard
from selectolax.lexbor import LexborHTMLParser

from thresher.parsing.html import parse
from thresher.parsing.main_content import content_of_markup
from thresher.search.near_duplicates import ALIKE, NearDuplicateTables
from thresher.text.tokens import tokenize
from thresher_lab.webs.webstore import webs_folder

MIN_SENTENCES, MAX_SENTENCES = 8, 60
_SENTENCES = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+")

Pair = tuple[int, int]


class Planted(NamedTuple):
    family: int
    kind: str
    html: str


def lines(name: str) -> Iterator[dict[str, str]]:
    with (webs_folder() / name).open("rb") as packed:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8"):
            yield json.loads(line)


def english() -> Iterator[str]:
    for page in lines("wikispeedia.pages.jsonl.zst"):
        if body := LexborHTMLParser(page["html"]).css_first("#bodyContent"):
            yield " ".join(node.text(separator=" ") for node in body.css("p"))


def chinese() -> Iterator[str]:
    return (page["text"] for page in lines("sogouc_3000_zh.jsonl.zst"))


def texts(source: Iterator[str], most: int) -> list[list[str]]:
    """Take texts of enough sentences; of equal beginnings one, for news agencies repeat themselves."""
    found: dict[str, list[str]] = {}
    for text in source:
        sentences = [each.strip() for each in _SENTENCES.split(" ".join(text.split())) if len(each.strip()) > 5]
        if len(sentences) >= MIN_SENTENCES:
            found.setdefault("".join(sentences)[:40], sentences[:MAX_SENTENCES])
        if len(found) == most:
            break
    return list(found.values())


def frame(site: int, title: str, body: str, *, date: str = "2020-01-02", visits: int = 7) -> str:
    """Set a text between the menu and the footer of a site; each site has words of its own there."""
    pick = random.Random(f"site {site}")
    words = [
        f"{pick.choice(['News', 'About', '新闻', '学院', 'Shop', '帮助', 'Maps', '论坛'])} {number}"
        for number in range(25)
    ]
    menu = "".join(f'<li><a href="/{site}/{number}">{word}</a></li>' for number, word in enumerate(words))
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head><body><header><ul>{menu}</ul>'
        f"</header><main><h1>{title}</h1>{body}<p>{date} ({visits})</p></main>"
        f'<footer><a href="/{site}/imprint">Imprint {site}</a> <a href="/{site}/contact">Contact</a></footer>'
        "</body></html>"
    )


def paragraphs(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{' '.join(sentences[start : start + 4])}</p>" for start in range(0, len(sentences), 4))


def plant(family: int, own: list[str], others: list[list[str]], draw: random.Random) -> list[Planted]:
    site, title = family % 20, own[0][:40]
    other = draw.choice([text for text in others if text is not own])
    foreign = [sentence for text in (other, *others) for sentence in text]
    mirror = frame(site + 100, title, paragraphs(own))
    dated = frame(site, title, paragraphs(own), date="2024-11-30", visits=draw.randrange(1000, 99999))
    bare = f"<html><head><title>{title}</title></head><body>{paragraphs(own)}</body></html>"
    edited = [draw.choice(foreign) if number % 20 == 3 else each for number, each in enumerate(own)]
    cut = own[: max(MIN_SENTENCES - 1, int(len(own) * 0.85))]
    half = [foreign[number] if number % 2 else each for number, each in enumerate(own)]
    return [
        Planted(family, "original", frame(site, title, paragraphs(own))),
        Planted(family, "mirror", mirror),
        Planted(family, "dated", dated),
        Planted(family, "print version", bare),
        Planted(family, "edited", frame(site, title, paragraphs(edited))),
        Planted(family, "end cut off", frame(site, title, paragraphs(cut))),
        Planted(-1, "half of it", frame(site, title, paragraphs(half))),
    ]


def minhash_pairs(terms: Sequence[Sequence[str]]) -> set[Pair]:
    tables = NearDuplicateTables(sqlite3.connect(":memory:"))
    heads: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(terms):
        heads[tables.add(number + 1, each)].append(number)
    return {pair for members in heads.values() for pair in combinations(members, 2)}


def simhash_pairs(distance: int) -> Callable[[Sequence[Sequence[str]]], set[Pair]]:
    def pairs(terms: Sequence[Sequence[str]]) -> set[Pair]:
        hashes = np.array([simhash(each) for each in terms], dtype=np.uint64)
        found: set[Pair] = set()
        for number, own in enumerate(hashes):
            near = np.flatnonzero(np.bitwise_count(hashes[number + 1 :] ^ own) <= distance)
            found |= {(number, number + 1 + int(other)) for other in near}
        return found

    return pairs


def simhash(terms: Sequence[str]) -> int:
    """Hash the terms with their counts, as the paper does with weighted features."""
    counts = Counter(terms)
    hashes = [crc32(term.encode()) | crc32(term.encode()[::-1] + b"x") << 32 for term in counts]
    bits = (np.array(hashes, dtype=np.uint64)[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    weights = np.array(list(counts.values()), dtype=np.float64)
    sums = weights @ (2.0 * bits - 1.0)
    return int(sum(1 << place for place in np.flatnonzero(sums > 0).tolist()))


def measure(language: str, source: Iterator[str], most: int) -> None:
    draw = random.Random(1)
    kept = texts(source, most)
    planted = [each for family, own in enumerate(kept) for each in plant(family, own, draw.sample(kept, 5), draw)]
    draw.shuffle(planted)
    pages = [parse(f"http://a.example/{number}", each.html.encode()) for number, each in enumerate(planted)]
    terms = [
        tokenize(content_of_markup(page.url, each.html).text or page.text)
        for page, each in zip(pages, planted, strict=True)
    ]
    whole = [tokenize(page.text) for page in pages]
    families: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(planted):
        families[each.family].append(number)
    families.pop(-1, None)
    truth = {pair for members in families.values() for pair in combinations(members, 2)}
    print(f"\n## {language}: {len(planted):,} pages of {len(families)} texts, {len(truth):,} true pairs\n")
    print("| way | precision | recall | ms per page |", "|---|---|---|---|", sep="\n")
    ways: dict[str, tuple[Callable[[Sequence[Sequence[str]]], set[Pair]], Sequence[Sequence[str]]]] = {
        f"MinHash, {ALIKE} alike, main text (ours)": (minhash_pairs, terms),
        "the same, whole text": (minhash_pairs, whole),
        **{f"SimHash, {bits} of 64 bits differ, main text": (simhash_pairs(bits), terms) for bits in (3, 6, 10)},
    }
    for name, (way, given) in ways.items():
        begun = time.process_time()
        found = way(given)
        spent = 1000 * (time.process_time() - begun) / len(planted)
        right = len(found & truth)
        print(f"| {name} | {right / max(1, len(found)):.3f} | {right / len(truth):.3f} | {spent:.2f} |")
        if way is minhash_pairs and given is terms:
            missed, wrong = truth - found, found - truth
    kinds = Counter(planted[number].kind for pair in missed for number in pair)
    print(f"\nmissed pairs by kind: {dict(kinds.most_common(4))}; wrong pairs: {len(wrong)}", end="")
    print(f", with half of a text: {sum(-1 in {planted[one].family, planted[other].family} for one, other in wrong)}")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--texts", type=int, default=300, help="texts of each language")
    options = arguments.parse_args()
    for language, source in (("English", english()), ("Chinese", chinese())):
        measure(language, islice(source, 20 * options.texts), options.texts)
