"""Row H15: DOCX files that are made to hurt a parser, and documents that are damaged anywhere."""

from __future__ import annotations

import asyncio
import io
import random
import time
import zipfile
from collections.abc import Callable, Mapping

from testing.malicious_pdfs import pdf
from tests.faults.pdfs import MAX_CHILD_MIB, SECONDS, Converted, _peak, _value
from tests.faults.table import Outcome
from thresher.parsing.documents.conversion import EXTRA_SECONDS, DocumentConverter
from thresher.parsing.documents.document import DocumentLimits
from thresher.parsing.isolated import Unparsable
from thresher.records import FetchedPage

NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TEXT = "<w:p><w:r><w:t>" + "Perovskite solar cells convert light into electricity. " * 20 + "</w:t></w:r></w:p>"
BODY = "word/document.xml"
SPOILED = 20
"""Good files of each kind that are damaged at random."""


def docx(body: str = TEXT, *, head: str = "", more: Mapping[str, bytes] | None = None) -> bytes:
    """Return a DOCX file with this body."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(BODY, f"{head}<w:document {NAMESPACE}><w:body>{body}</w:body></w:document>")
        for name, content in (more or {}).items():
            archive.writestr(name, content)
    return packed.getvalue()


def _laughs() -> str:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]>'


def _doubled() -> bytes:
    """Return an archive whose body is listed twice."""
    packed = io.BytesIO(docx())
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("word/Document.xml", "<x/>")
    return packed.getvalue()


DOCX: dict[str, Callable[[], bytes]] = {
    "9,000,000 breaks": lambda: docx(TEXT + "<w:p>" + "<w:br/>" * 9_000_000 + "</w:p>"),
    "empty paragraphs": lambda: docx(TEXT + "<w:p/>" * 8_000_000),
    "cells": lambda: docx(f"{TEXT}<w:tbl><w:tr>{'<w:tc/>' * 8_000_000}</w:tr></w:tbl>"),
    "an attribute of 60 MB": lambda: docx(TEXT + f"<w:p a='{'x' * 60_000_000}'/>"),
    "3,000,000 attributes": lambda: docx(TEXT + "<w:p " + " ".join(f"a{n}=''" for n in range(3_000_000)) + "/>"),
    "text of 100 MB": lambda: docx(TEXT + f"<w:p><w:t>{'Solar cells. ' * 8_000_000}</w:t></w:p>"),
    "depth": lambda: docx(TEXT + "<w:p>" * 1_000_000),
    "billion laughs": lambda: docx(TEXT + "<w:p><w:t>&a9;</w:t></w:p>", head=_laughs()),
    "an entity of a file": lambda: docx(
        TEXT + "<w:t>&e;</w:t>", head='<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    ),
    "styles of 200 MB": lambda: docx(more={"word/styles.xml": b"<s>" + b"<style/>" * 25_000_000 + b"</s>"}),
    "20,000 files": lambda: docx(more={f"word/media/{n}": b"" for n in range(20_000)}),
    "links of 100 MB": lambda: docx(
        more={"word/_rels/document.xml.rels": b"<r>" + b'<Relationship Id="a" Target="b"/>' * 3_000_000 + b"</r>"}
    ),
    "names of files that lead elsewhere": lambda: docx(more={"../../../tmp/planted": b"x", "/etc/planted": b"x"}),
    "no body": lambda: b"PK\x05\x06" + bytes(18),
    "no archive": lambda: b"\xd0\xcf\x11\xe0" + bytes(4096),
    "half an archive": lambda: docx()[: len(docx()) // 2],
    "a body twice": _doubled,
}


def spoiled(content: bytes, number: int) -> bytes:
    """Return a file with bytes overwritten at random, or without its end."""
    chance = random.Random(number)
    changed = bytearray(content)
    for _ in range(chance.randint(1, 20)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed[: chance.randint(1, len(changed))] if chance.random() < 0.3 else changed)


def cases(names: Mapping[str, Callable[[], bytes]], damaged: int) -> dict[str, tuple[str, Callable[[], bytes]]]:
    """Return files by name, with their kinds."""
    found: dict[str, tuple[str, Callable[[], bytes]]] = {name: ("docx", make) for name, make in names.items()}
    for number in range(damaged):
        found[f"docx {number}"] = ("docx", lambda number=number: spoiled(docx(), number))  # type: ignore[misc]
        found[f"pdf {number}"] = ("pdf", lambda number=number: spoiled(pdf(), number))  # type: ignore[misc]
    return found


def convert(files: Mapping[str, tuple[str, Callable[[], bytes]]]) -> Converted:
    """Convert each file with a limit of 2 s of processor time; a good one after each."""
    return asyncio.run(_convert(files))


async def _convert(files: Mapping[str, tuple[str, Callable[[], bytes]]]) -> Converted:
    found, converter = Converted(), DocumentConverter(limits=DocumentLimits(seconds=SECONDS))
    try:
        await converter.convert(_fetched(docx()), "docx")
        for name, (kind, make) in files.items():
            await _one(converter, found, name, kind, make())
            await converter.convert(_fetched(docx()), "docx")
    finally:
        converter.close()
    return found


async def _one(converter: DocumentConverter, found: Converted, name: str, kind: str, body: bytes) -> None:
    child, start = converter._process._child, time.monotonic()
    watching = asyncio.create_task(_peak(child.pid if child else 0))
    try:
        await converter.convert(_fetched(body), kind)
        found.read.append(name)
    except Unparsable as error:
        (found.refused if error.final else found.unfinished)[name] = error.why
    taken = time.monotonic() - start
    found.longest_seconds, found.slowest = max((found.longest_seconds, found.slowest), (taken, name))
    watching.cancel()
    found.peak_mib, found.largest = max((found.peak_mib, found.largest), (await _value(watching), name))


def _fetched(body: bytes) -> FetchedPage:
    return FetchedPage(url="http://a.example/x", status=200, headers={}, body=body, fetched_at=1e9)


def is_bounded(found: Converted) -> bool:
    """Return whether no file took more time or memory than allowed; on a busy machine some do not get their 2 s."""
    return found.longest_seconds <= SECONDS + EXTRA_SECONDS + 1 and found.peak_mib <= MAX_CHILD_MIB


def h15() -> Outcome:
    """All files one by one."""
    files = cases(DOCX, SPOILED)
    found = convert(files)
    return Outcome(
        held=is_bounded(found),
        figure=(
            f"{len(files)} files: text of {len(found.read)}, {len(found.refused)} refused, {len(found.unfinished)} "
            f"given up by the clock; longest {found.longest_seconds:.1f} s ({found.slowest}), child at most "
            f"{found.peak_mib:.0f} MiB ({found.largest})"
        ),
    )
