"""How much of a clean PDF is read: ``python -m bench.collection.documents [--texts N] [--chromium PATH]``.

Real texts, articles of an encyclopedia in English and news in Chinese, are printed by three producers: Chromium,
ReportLab and Matplotlib, each with a heading, paragraphs, a link and as many pages as needed. Each file is converted as
a worker does, in its child process. The text is compared with what was printed: tokens are words, and single characters
of Chinese; precision, recall and F1 of tokens as bags, and F1 of triples of adjacent tokens, which also counts the
order. Then the share of links and of headings that were found, the time per file and the memory of the child. Needs
THRESHER_WEBS, Chromium and a Chinese font.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import statistics
import subprocess
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from bench.collection.duplicates import chinese, english, texts
from thresher.parsing.documents.conversion import DocumentConverter
from thresher.parsing.html import parse
from thresher.records import FetchedPage

FONT = Path("/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc")
LINK = "http://b.example/more?n=1"
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+").findall


class Printed(NamedTuple):
    """A text that is to be printed."""

    title: str
    paragraphs: list[str]
    language: str

    @property
    def tokens(self) -> list[str]:
        return tokens("\n".join([self.title, *self.paragraphs, "More about this"]))


class Row(NamedTuple):
    precision: float
    recall: float
    f1: float
    order_f1: float
    link: bool
    heading: bool
    seconds: float


def tokens(text: str) -> list[str]:
    return _TOKEN(text.casefold())


def printed(sentences: Sequence[str], language: str) -> Printed:
    glue = "" if language == "zh" else " "
    paragraphs = [glue.join(sentences[start : start + 4]) for start in range(1, len(sentences), 4)]
    return Printed(sentences[0][:60].strip(), paragraphs, language)


def by_chromium(text: Printed, path: Path, chromium: str) -> None:
    body = "".join(f"<p>{escape(each)}</p>" for each in text.paragraphs)
    html = f'<meta charset="utf-8"><title>{escape(text.title)}</title><h1>{escape(text.title)}</h1>{body}'
    source = path.with_suffix(".html")
    source.write_text(f'{html}<p><a href="{LINK}">More about this</a></p>', encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={path}"]
    subprocess.run([chromium, *options, source.as_uri()], check=True, capture_output=True, timeout=120)


def by_reportlab(text: Printed, path: Path) -> None:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    styles = getSampleStyleSheet()
    normal, heading = styles["Normal"], styles["Heading1"]
    normal.spaceAfter = 8
    if text.language == "zh":
        pdfmetrics.registerFont(TTFont("wqy", str(FONT), subfontIndex=0))
        for style in (normal, heading):
            style.fontName, style.wordWrap = "wqy", "CJK"
    else:
        normal.hyphenationLang, normal.alignment = "", 4
    parts = [Paragraph(escape(text.title), heading), *(Paragraph(escape(each), normal) for each in text.paragraphs)]
    parts.append(Paragraph(f'<link href="{escape(LINK)}">More about this</link>', normal))
    SimpleDocTemplate(str(path), title=text.title).build(parts)


def by_matplotlib(text: Printed, path: Path) -> None:
    import matplotlib
    from fontTools.ttLib import TTCollection
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    matplotlib.rcParams["pdf.fonttype"] = 42
    font = path.parent / "wqy.ttf"
    if not font.exists():
        TTCollection(FONT).fonts[0].save(font)
    width = 40 if text.language == "zh" else 80
    lines = [(18, text.title, "")]
    for each in text.paragraphs:
        lines += [(11, line, "") for line in wrap(each, width)] + [(11, "", "")]
    lines.append((11, "More about this", LINK))
    with PdfPages(path, metadata={"Title": text.title}) as pages:
        for start in range(0, len(lines), 45):
            figure = Figure(figsize=(8.27, 11.69))
            for place, (size, line, url) in enumerate(lines[start : start + 45]):
                shown = figure.text(
                    0.1, 0.94 - place * 0.0195, line, fontproperties=FontProperties(fname=font, size=size)
                )
                shown.set_parse_math(False)
                shown.set_url(url or None)
            pages.savefig(figure)


def wrap(text: str, width: int) -> list[str]:
    """Wrap a paragraph: between words, or between any two characters when there are no blanks."""
    return textwrap.wrap(text, width, break_on_hyphens=False)


async def measure(converter: DocumentConverter, text: Printed, path: Path) -> Row:
    body = path.read_bytes()  # noqa: ASYNC240
    fetched = FetchedPage(url="http://a.example/x.pdf", status=200, headers={}, body=body, fetched_at=0.0)
    start = time.perf_counter()
    converted = await converter.convert(fetched, "pdf")
    seconds = time.perf_counter() - start
    page = parse(fetched.url, converted.body, converted.headers["content-type"])
    found = tokens(page.text.removeprefix(page.title))
    precision, recall, f1 = quality(text.tokens, found)
    return Row(
        precision,
        recall,
        f1,
        quality(triples(text.tokens), triples(found))[2],
        any(link.url == LINK and link.anchor == "More about this" for link in page.links),
        any(tokens(heading) == tokens(text.title) for heading in page.headings),
        seconds,
    )


def triples(found: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(found, found[1:], found[2:], strict=False))


def quality(gold: Sequence[object], found: Sequence[object]) -> tuple[float, float, float]:
    common = sum((Counter(gold) & Counter(found)).values())
    precision, recall = common / max(1, len(found)), common / max(1, len(gold))
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


async def run(most: int, chromium: str) -> None:
    producers: dict[str, Callable[[Printed, Path], None]] = {
        "Chromium": lambda text, path: by_chromium(text, path, chromium),
        "ReportLab": by_reportlab,
        "Matplotlib": by_matplotlib,
    }
    converter = DocumentConverter(("pdf",))
    print(
        "| producer | language | files | precision | recall | F1 | least F1 | F1 of triples | links | headings | ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for language, source in (("en", english), ("zh", chinese)):
            samples = [printed(each, language) for each in texts(source(), most)]
            for name, produce in producers.items():
                rows = []
                for number, text in enumerate(samples):
                    path = Path(folder) / f"{name}-{language}-{number}.pdf"
                    produce(text, path)
                    rows.append(await measure(converter, text, path))
                report(name, language, rows)
    child = converter._process._child
    if child:
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{child.pid}/status").read_text())  # noqa: ASYNC240
        print(f"\nThe child held at most {int(peak[1]) / 1024:.0f} MiB." if peak else "")
    converter.close()


def report(name: str, language: str, rows: Sequence[Row]) -> None:
    means = [statistics.fmean(getattr(row, key) for row in rows) for key in ("precision", "recall", "f1")]
    least, order = min(row.f1 for row in rows), statistics.fmean(row.order_f1 for row in rows)
    links, headings = (statistics.fmean(getattr(row, key) for row in rows) for key in ("link", "heading"))
    values = " | ".join(f"{value:.4f}" for value in (*means, least, order))
    milliseconds = 1000 * statistics.median(row.seconds for row in rows)
    print(f"| {name} | {language} | {len(rows)} | {values} | {links:.2f} | {headings:.2f} | {milliseconds:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=20, help="texts in each language")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    chosen = parser.parse_args()
    asyncio.run(run(chosen.texts, chosen.chromium))


if __name__ == "__main__":
    main()
