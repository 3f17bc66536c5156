"""What a large taxonomy costs: ``python -m bench.speed.taxonomy``.

Writes made-up ODP dumps, structure and content, in English and Chinese with links between the languages and some
broken bytes, and imports each in a process of its own; prints seconds on the wall and of the processor, peak memory
and the size of the file, and how long a few questions take afterwards. Memory must not grow with the example pages.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from xml.sax.saxutils import escape, quoteattr

PAGES_PER_TOPIC = 5
TOPICS_PER_LEVEL = 12
CHINESE_EVERY = 10
"""One topic in ten has a counterpart in Chinese; ODP has fewer."""

BROKEN_EVERY = 5_000
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprst" for vowel in "aeiou"]
CHARACTERS = "天地人山水火木金土日月星风云雨雪花草树鸟鱼马牛羊车船路桥城市乡村学校书画音乐科技网球棋医药食茶"
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
"""


def topics(count: int) -> Iterator[tuple[str, str]]:
    """Give paths in English and Chinese, parents before children; the tree is as wide at every level."""
    for number in range(count):
        english, chinese, rest = [], [], number + 1
        while rest:
            draw = Random(rest)
            english.append("".join(draw.choices(SYLLABLES, k=3)).capitalize() + f"_{rest % TOPICS_PER_LEVEL}")
            chinese.append("".join(draw.choices(CHARACTERS, k=3)))
            rest = (rest - 1) // TOPICS_PER_LEVEL
        yield "Top/" + "/".join(reversed(english)), "Top/World/Chinese_Simplified/" + "/".join(reversed(chinese))


def write_structure(path: Path, count: int) -> None:
    with path.open("wb") as file:
        file.write(HEAD.encode())
        for number, (english, chinese) in enumerate(topics(count)):
            name = english.rpartition("/")[2]
            text = f"All about <b>{name}</b> & what belongs to it, number {number}."
            links = f"<symbolic r:resource={quoteattr(f'{name}:{english}')}/>"
            if number % CHINESE_EVERY == 0:
                links += f"<altlang r:resource={quoteattr(f'Chinese_Simplified:{chinese}')}/>"
                file.write(topic(chinese, f"关于{chinese.rpartition('/')[2]}的网页", "").encode())
            file.write(topic(english, text, links).encode())
        file.write(b"</RDF>\n")


def topic(path: str, description: str, links: str) -> str:
    title = escape(path.rpartition("/")[2])
    about = escape(description)
    return (
        f"<Topic r:id={quoteattr(path)}>\n  <catid>1</catid>\n  <d:Title>{title}</d:Title>\n"
        f"  <d:Description>{about}</d:Description>\n  {links}\n</Topic>\n"
    )


def write_content(path: Path, pages: int) -> None:
    draw = Random(1)
    with path.open("wb") as file:
        file.write(HEAD.encode())
        for number, (english, chinese) in enumerate(topics(pages // PAGES_PER_TOPIC)):
            place = chinese if number % CHINESE_EVERY == 0 else english
            urls = [f"http://www.{draw.randrange(10**6)}.example/{number}/{page}" for page in range(PAGES_PER_TOPIC)]
            links = "".join(f"  <link r:resource={quoteattr(url)}/>\n" for url in urls)
            file.write(f"<Topic r:id={quoteattr(place)}>\n{links}</Topic>\n".encode())
            for url in urls:
                file.write(page_entry(url, place, draw).encode())
            if number % (BROKEN_EVERY // PAGES_PER_TOPIC) == 0:
                file.write(b"<!-- \x07 \xff\xfe -->\n")
        file.write(b"</RDF>\n")


def page_entry(url: str, place: str, draw: Random) -> str:
    words = " ".join("".join(draw.choices(SYLLABLES, k=2)) for _ in range(14))
    title = "".join(draw.choices(CHARACTERS, k=8)) if "Chinese" in place else words[:30]
    return (
        f"<ExternalPage about={quoteattr(url)}>\n  <d:Title>{title}</d:Title>\n"
        f"  <d:Description>{words}.</d:Description>\n  <topic>{place}</topic>\n</ExternalPage>\n"
    )


IMPORT = """
import json, resource, sys, time
from pathlib import Path
from thresher.topics.taxonomy.importing import import_taxonomy
started, busy = time.perf_counter(), time.process_time()
imported = import_taxonomy([Path(path) for path in sys.argv[1:3]], Path(sys.argv[3]))
seconds, busy = time.perf_counter() - started, time.process_time() - busy
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([imported.nodes, imported.examples, imported.repaired, seconds, busy, peak]))
"""


def measure(pages: int, folder: Path) -> None:
    structure, content, made = (folder / f"{pages}.{name}" for name in ("structure.rdf", "content.rdf", "taxonomy"))
    write_structure(structure, pages // PAGES_PER_TOPIC)
    write_content(content, pages)
    megabytes = (structure.stat().st_size + content.stat().st_size) / 2**20
    command = [sys.executable, "-c", IMPORT, *map(str, (structure, content, made))]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    nodes, examples, repaired, seconds, busy, peak = json.loads(output)
    print(
        f"| {examples:,} | {nodes:,} | {megabytes:,.0f} | {repaired:,} | {seconds:.0f} | {busy:.0f} | {peak:.0f} "
        f"| {made.stat().st_size / 2**20:,.0f} | {questions(made, pages)} |",
        flush=True,
    )
    for path in (structure, content, made):
        path.unlink()


def questions(made: Path, pages: int) -> str:
    """Time what a user does with the file."""
    from thresher.topics.taxonomy.taxonomy import TaxonomyReader

    path, _ = next(islice(topics(pages // PAGES_PER_TOPIC), 100, None))
    started = time.perf_counter()
    with TaxonomyReader.open(made) as taxonomy:
        taxonomy.find(path.rpartition("/")[2].replace("_", " "))
        found = time.perf_counter()
        taxonomy.node(path)
        list(islice(taxonomy.examples(path, below=True), 10))
        shown = time.perf_counter()
    return f"{1000 * (found - started):.1f} | {1000 * (shown - found):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.taxonomy", description="What a large taxonomy costs.")
    parser.add_argument("--pages", default="100000,1000000", help="example pages, separated by commas")
    parser.add_argument("--folder", type=Path, help="where to put the files; they are removed at the end")
    options = parser.parse_args()
    print("| pages | topics | MB of RDF | repaired | seconds | CPU s | peak MB | file MB | open + find ms | show ms |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-taxonomy-", dir=options.folder) as folder:
        for pages in map(int, options.pages.split(",")):
            measure(pages, Path(folder))


if __name__ == "__main__":
    main()
