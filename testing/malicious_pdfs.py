"""Forty PDFs that are made to hurt a parser: loops, bombs, wrong numbers, deep trees, broken tables, actions.

Every file is written by hand, byte by byte, so that nothing is needed to make them and all are the same everywhere.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Mapping
from functools import partial

MIB = 1 << 20
TEXT = b"BT /F1 12 Tf 72 720 Td (Perovskite solar cells and their efficiency) Tj ET\n"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>%s>>/Contents 4 0 R%s>>"
CATALOG = b"<</Type/Catalog/Pages 2 0 R%s>>"

Objects = Mapping[int, bytes]


def stream(data: bytes, entries: bytes = b"", *, length: bytes | None = None) -> bytes:
    """Return a stream object; its length can be wrong."""
    return b"<<%s/Length %s>>stream\n%s\nendstream" % (entries, length or b"%d" % len(data), data)


def flate(data: bytes, entries: bytes = b"") -> bytes:
    return stream(zlib.compress(data, 9), b"/Filter/FlateDecode" + entries)


def packed(pattern: bytes, size: int) -> bytes:
    """Return `size` bytes of a pattern, deflated piece by piece."""
    pack = zlib.compressobj(9)
    piece = pattern * (MIB // len(pattern))
    return b"".join([*(pack.compress(piece) for _ in range(size // len(piece))), pack.flush()])


def pdf(objects: Objects | None = None, *, trailer: bytes = b"", startxref: int | None = None) -> bytes:
    """Return a file of one page with text; `objects` replace or complete its own."""
    own = {1: CATALOG % b"", 2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>", 3: PAGE % (b"", b""), 4: stream(TEXT), 5: FONT}
    body, offsets = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), {}
    for number, content in sorted({**own, **(objects or {})}.items()):
        offsets[number] = len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(body)
    body += b"xref\n0 1\n0000000000 65535 f \n"
    for number, offset in offsets.items():
        body += b"%d 1\n%010d 00000 n \n" % (number, offset)
    body += b"trailer\n<</Size %d/Root 1 0 R%s>>\n" % (max(offsets) + 1, trailer)
    return bytes(body + b"startxref\n%d\n%%%%EOF\n" % (table if startxref is None else startxref))


def content(data: bytes) -> bytes:
    return pdf({4: stream(data)})


def catalog(entries: bytes, objects: Objects | None = None) -> bytes:
    return pdf({1: CATALOG % entries, **(objects or {})})


def resources(entries: bytes, objects: Objects, draw: bytes) -> bytes:
    return pdf({3: PAGE % (entries, b""), 4: stream(TEXT + draw), **objects})


def deep_pages(depth: int) -> bytes:
    tree = {10 + n: b"<</Type/Pages/Kids[%d 0 R]/Count 1/Parent %d 0 R>>" % (11 + n, 9 + n) for n in range(depth)}
    last = {10 + depth: PAGE % (b"", b"")}
    return pdf({2: b"<</Type/Pages/Kids[10 0 R]/Count 1>>", **tree, **last})


def outline(count: int, *, key: bytes) -> bytes:
    entries = {
        10 + n: b"<</Title(Entry %d)/Parent 6 0 R/Dest[3 0 R/Fit]%s %d 0 R>>" % (n, key, 11 + n) for n in range(count)
    }
    return catalog(b"/Outlines 6 0 R", {6: b"<</First 10 0 R/Last 10 0 R/Count 1>>", **entries})


def annotations(count: int, action: bytes) -> bytes:
    one = b"<</Type/Annot/Subtype/Link/Rect[72 700 300 740]/A<<%s>>>>" % action
    return pdf({3: PAGE % (b"", b"/Annots[" + b"6 0 R " * count + b"]"), 6: one})


def forms(levels: int, *, loop: bool) -> bytes:
    """Return forms that draw the next one twice, or themselves."""
    kind = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]"
    objects = {}
    for n in range(levels):
        following = 10 + (n if loop else n + 1)
        names = b"/Resources<</XObject<</X %d 0 R>>/Font<</F1 5 0 R>>>>" % following
        objects[10 + n] = stream(b"/X Do /X Do", kind + names)
    objects[10 + levels] = stream(TEXT, kind + b"/Resources<</Font<</F1 5 0 R>>>>")
    return resources(b"/XObject<</X 10 0 R>>", objects, b"/X Do\n")


def image(width: int, height: int, entries: bytes = b"", data: bytes = b"\0" * 64) -> bytes:
    kind = b"/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceRGB" % (width, height)
    return resources(b"/XObject<</X 10 0 R>>", {10: stream(data, kind + entries)}, b"q 500 0 0 500 0 0 cm /X Do Q\n")


def to_unicode(cmap: bytes) -> bytes:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>"
    return pdf({5: font, 6: flate(b"/CIDInit /ProcSet findresource begin begincmap\n" + cmap + b"endcmap end")})


def type3_loop() -> bytes:
    font = (
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 80/LastChar 80"
        b"/Widths[500]/Encoding<</Differences[80/P]>>/CharProcs<</P 6 0 R>>/Resources<</Font<</F1 5 0 R>>>>>>"
    )
    return pdf({5: font, 6: stream(b"500 0 d0 BT /F1 12 Tf (PPPPPPPP) Tj ET")})


def object_stream(count: int, entries: bytes = b"") -> bytes:
    return pdf({6: stream(b"7 0 8 10 (text)", b"/Type/ObjStm/N %d/First 9%s" % (count, entries))})


def xref_stream(size: int) -> bytes:
    """Return a file whose only table is a stream of a wrong size."""
    head = pdf().partition(b"xref\n")[0]
    entries = b"/Type/XRef/Size %d/Index[0 %d]/W[1 4 2]/Root 1 0 R" % (size, size)
    return head + b"9 0 obj\n" + flate(b"\0" * 70, entries) + b"\nendobj\nstartxref\n%d\n%%%%EOF\n" % len(head)


def encrypted(handler: bytes) -> bytes:
    return pdf(trailer=b"/Encrypt<<%s>>/ID[<00><00>]" % handler)


def garbled(seed: int) -> bytes:
    """Return a file with one byte in fifty changed."""
    body, dice = bytearray(pdf({4: flate(TEXT * 50)})), random.Random(seed)
    for _ in range(len(body) // 50):
        body[dice.randrange(len(body))] = dice.randrange(256)
    return bytes(body)


_RC4 = b"/Filter/Standard/V 1/R 2/P -1/O<%s>/U<%s>" % (b"41" * 32, b"42" * 32)
_BIG = 2_000_000_000
_ONE_MIB_OF_BLANKS = packed(b" ", MIB)

CASES: Mapping[str, Callable[[], bytes]] = {
    "page tree that contains itself": lambda: pdf({2: b"<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2/Parent 2 0 R>>"}),
    "two billion pages": lambda: pdf({2: b"<</Type/Pages/Kids[3 0 R]/Count %d>>" % _BIG}),
    "one page 300,000 times": lambda: pdf({2: b"<</Type/Pages/Kids[%s]/Count 300000>>" % (b"3 0 R " * 300_000)}),
    "negative page count": lambda: pdf({2: b"<</Type/Pages/Kids[3 0 R]/Count -5>>"}),
    "pages nested 50,000 deep": partial(deep_pages, 50_000),
    "content of 1 GiB of blanks": lambda: pdf({4: stream(packed(b" ", 1 << 30), b"/Filter/FlateDecode")}),
    "content of 256 MiB of text": lambda: pdf(
        {4: stream(packed(b"BT /F1 9 Tf (solar) Tj ET\n", 256 * MIB), b"/Filter/FlateDecode")}
    ),
    "content deflated twice to 1 GiB": lambda: pdf(
        {4: stream(zlib.compress(packed(b" ", 1 << 30), 9), b"/Filter[/FlateDecode/FlateDecode]")}
    ),
    "a thousand filters": lambda: pdf({4: stream(_ONE_MIB_OF_BLANKS, b"/Filter[%s]" % (b"/FlateDecode" * 1000))}),
    "run lengths of 640 MiB": lambda: pdf({4: stream(b"\x81 " * (5 * MIB), b"/Filter/RunLengthDecode")}),
    "predictor with two billion columns": lambda: pdf(
        {4: flate(TEXT * 1000, b"/DecodeParms<</Predictor 15/Columns %d/Colors 32/BitsPerComponent 16>>" % _BIG)}
    ),
    "object stream of a billion objects": partial(object_stream, 1_000_000_000),
    "object stream that extends itself": partial(object_stream, 2, b"/Extends 6 0 R"),
    "table of two billion entries": partial(xref_stream, _BIG),
    "table that comes before itself": lambda: pdf(trailer=b"/Prev %d" % pdf().rfind(b"xref\n0 1")),
    "no table": partial(pdf, startxref=10**9),
    "half of a file": lambda: pdf({4: flate(TEXT * 5000)})[: len(pdf({4: flate(TEXT * 5000)})) // 2],
    "bytes changed": partial(garbled, 1),
    "other bytes changed": partial(garbled, 2),
    "stream of endless length": lambda: pdf({4: stream(TEXT, length=b"99999999999")}),
    "length that refers to its stream": lambda: pdf({4: stream(TEXT, length=b"4 0 R")}),
    "a million open brackets": lambda: pdf({6: b"[" * 1_000_000, 3: PAGE % (b"/X 6 0 R", b"")}),
    "dictionaries 200,000 deep": lambda: catalog(b"/X 6 0 R", {6: b"<</A" * 200_000 + b" 1" + b">>" * 200_000}),
    "operands 1,000,000 deep": lambda: content(b"[" * 1_000_000 + TEXT),
    "a million saved states": lambda: content(b"q " * 1_000_000 + TEXT),
    "a million text objects": lambda: pdf({4: flate(b"BT /F1 1 Tf 1 0 Td (a) Tj ET\n" * 1_000_000)}),
    "outline 100,000 deep": partial(outline, 100_000, key=b"/First"),
    "outline of 200,000 entries": partial(outline, 200_000, key=b"/Next"),
    "outline that contains itself": lambda: catalog(
        b"/Outlines 6 0 R", {6: b"<</First 7 0 R>>", 7: b"<</Title(Loop)/First 7 0 R/Next 7 0 R/Dest[3 0 R/Fit]>>"}
    ),
    "title of 8 MiB": lambda: pdf({6: b"<</Title(%s)>>" % (b"solar cell " * (8 * MIB // 11))}, trailer=b"/Info 6 0 R"),
    "image of 3.6 gigapixels": partial(image, 60_000, 60_000, b"/Filter/FlateDecode", zlib.compress(b"\0" * 99)),
    "inline image of 3.6 gigapixels": lambda: content(
        TEXT + b"BI /W 60000 /H 60000 /BPC 8 /CS /RGB ID \0\0 EI\n" + TEXT
    ),
    "JPEG 2000 that is none": partial(
        image, 2**31 - 1, 2**31 - 1, b"/Filter/JPXDecode", b"\0\0\0\x0cjP  \r\n\x87\n" * 9
    ),
    "JBIG2 that is none": partial(image, 65_000, 65_000, b"/Filter/JBIG2Decode", b"\x97JB2\r\n\x1a\n" * 99),
    "form that draws itself": partial(forms, 1, loop=True),
    "forms that draw each other 2^40 times": partial(forms, 40, loop=False),
    "glyph that writes itself": type3_loop,
    "characters mapped a million times": lambda: to_unicode(
        b"100 beginbfrange\n" + b"<0000><FFFF><0041>\n" * 1_000_000 + b"endbfrange\n"
    ),
    "200,000 links": partial(annotations, 200_000, b"/S/URI/URI(http://a.example/)"),
    "link of 8 MiB": lambda: annotations(1, b"/S/URI/URI(http://a.example/" + b"x" * (8 * MIB) + b")"),
    "scripts and programs to start": lambda: catalog(
        b"/OpenAction<</S/JavaScript/JS(while\\(true\\){})/Next<</S/Launch/F(/bin/sh)>>>>"
        b"/AA<</WC<</S/Launch/Win<</F(calc.exe)>>>>>>/Names<</JavaScript<</Names[(a)<</S/JavaScript/JS(1)>>]>>>>"
    ),
    "page of a light year": lambda: pdf({3: (PAGE % (b"", b"")).replace(b"612 792", b"1e38 9e99999")}),
    "encrypted with an unknown handler": partial(encrypted, b"/Filter/Unknown.Handler/V 9"),
    "encrypted with an unknown password": partial(encrypted, _RC4),
}
"""Each by what is wrong with it."""
