"""Others read our WARC files: FastWARC here, pywb in an environment of its own.

pywb asks for old versions of libraries that we use, so it cannot live beside them. Point PYWB_PYTHON to a Python that
has it: ``python -m venv .venv-pywb && .venv-pywb/bin/pip install pywb webtest``.
"""

import json
import os
import subprocess
import textwrap
from pathlib import Path

import pytest

from tests.unit.storage.warc.captures import HTML, answered, archived, url, writer

REPOSITORY = Path(__file__).parents[3]
PYWB = Path(os.environ.get("PYWB_PYTHON", REPOSITORY / ".venv-pywb" / "bin" / "python"))


def test_fastwarc_reads_every_record_and_finds_its_digests_right(tmp_path):
    fastwarc = pytest.importorskip("fastwarc.warc")
    warc = writer(tmp_path)
    warc.write([answered(number) for number in range(5)])
    warc.write([answered(9, body=answered(0)[1].body)])
    warc.close()
    [path] = (tmp_path / "warc").glob("*.warc.gz")
    with path.open("rb") as file:
        found = []
        for record in fastwarc.ArchiveIterator(file, parse_http=False):
            assert record.verify_block_digest()
            found.append(record.headers["WARC-Type"])
    assert found == ["warcinfo", *["response", "request", "metadata"] * 5, "revisit", "request", "metadata"]


ASK = """
    import json, sys
    from warcio.timeutils import timestamp_to_datetime
    from webtest import TestApp
    from pywb.apps.frontendapp import FrontEndApp

    app = TestApp(FrontEndApp(config_file="./config.yaml"))
    answers = {}
    for url in json.load(sys.stdin):
        answer = app.get("/crawl/mp_/" + url, expect_errors=True)
        answers[url] = [answer.status_int, answer.text]
    lines = app.get("/crawl/cdx?url=h0.example/*&output=json").text.splitlines()
    print(json.dumps({"answers": answers, "lines": len(lines)}))
"""


@pytest.mark.skipif(not PYWB.exists(), reason=f"no pywb: {PYWB} is not there; point PYWB_PYTHON to one")
def test_pywb_replays_pages_and_copies_from_our_files_and_indexes(tmp_path):
    archived(tmp_path, *map(answered, range(6)), answered(9, body=HTML))
    archived(tmp_path, answered(12, body=HTML))
    config = {"collections": {"crawl": {"index_paths": str(tmp_path / "warc"), "archive_paths": f"{tmp_path}/warc/"}}}
    (tmp_path / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    done = subprocess.run(
        [PYWB, "-c", textwrap.dedent(ASK)],
        cwd=tmp_path,
        input=json.dumps([url(3), url(12), url(77)]),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed["answers"][url(3)][0] == 200
    assert "Cells 3" in printed["answers"][url(3)][1]
    assert printed["answers"][url(12)][0] == 200, "a revisit is answered with the body of the original"
    assert "Perovskite" in printed["answers"][url(12)][1]
    assert printed["answers"][url(77)][0] == 404
    assert printed["lines"] == 4
