"""Every benchmark that the documentation names starts, and those that can be small run to their end."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]
MODULE = re.compile(r"python -m (bench(?:\.\w+)+)")
SECONDS = 240
SMALLEST = """
    bench.collection.at_scale --pages 200
    bench.collection.batch --pages 200
    bench.collection.block_pages --every 1000
    bench.collection.content_export --pages 20
    bench.collection.duplicates --texts 20
    bench.collection.export --small 20 --pages 40
    bench.collection.extraction --layouts dev --pages 1
    bench.collection.killed --pages 200 --kills 1
    bench.collection.quality --pages 5
    bench.collection.search --pages 50
    bench.collection.walls --pdfs 5
    bench.conformance --only urls
    bench.crawl_picture --pages 200 -o TMP/picture.png
    bench.effectiveness.flagship_poison --topics 1 --pages 20
    bench.effectiveness.infospiders_constants --topics 1 --pages 20
    bench.effectiveness.label_order --topics 1 --pages 30
    bench.effectiveness.lpe_constants --topics 1 --pages 20
    bench.effectiveness.parity --pages 40
    bench.effectiveness.refresh --pages 60 --weeks 2
    bench.effectiveness.tiers --topics 1 --pages 40 --rows TMP/rows.jsonl
    bench.effectiveness.two_topics --pages 30 --pairs 1 --rows TMP/rows.jsonl
    bench.speed.archiving --pages 30 --rounds 1
    bench.speed.budget --pages 30
    bench.speed.dashboard --pages 100 --waiting 1000 --rounds 1 --sqlite-only
    bench.speed.dashboard_screens --pages 100 --waiting 1000 --rounds 1
    bench.speed.flagship_cost --pages 20
    bench.speed.judging --pages 30 --runs 1
    bench.speed.page_rows --pages 20
    bench.speed.pages --pages 30 --rounds 1 --legs fetch breadth-first download
    bench.speed.real_pages --pages 70
    bench.speed.speed --pages 30 --rounds 1 --legs 'thresher, SQLite'
    bench.speed.stages --pages 20
    bench.speed.startup --rounds 1
    bench.speed.taxonomy --pages 3000
    bench.speed.workers --pages 40 --rounds 1
    bench.stores.store --only done --sizes 1000 --rows TMP/rows.jsonl
    bench.structure
"""
NEEDS = ("THRESHER_WEBS", "THRESHER_SUITES")


def named() -> list[str]:
    """Return the benchmarks that the documentation and the constants of plans name."""
    constants = (ROOT / "src" / "thresher" / "capacity" / "constants.json").read_text(encoding="utf-8")
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    return sorted({found for text in [*texts, constants] for found in MODULE.findall(text)})


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.mark.parametrize("module", named())
def test_a_benchmark_that_is_named_can_be_imported(module):
    is_package = (ROOT / module.replace(".", "/")).is_dir()
    done = run("-c", f"import {module}{'.__main__' if is_package else ''}")
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.skipif(not all(map(os.environ.get, NEEDS)), reason=f"needs {' and '.join(NEEDS)}")
@pytest.mark.parametrize("command", [line.strip() for line in SMALLEST.strip().splitlines()])
def test_a_benchmark_runs_at_its_smallest_size(command, tmp_path):
    done = run("-m", *shlex.split(command.replace("TMP", str(tmp_path))))
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-2000:]
