"""Every block of the documentation does what it says: commands end well, Python runs, YAML and TOML can be read.

Pages that a reader starts with run from an empty folder, the others from one with a crawl in it. Blocks that cannot run
here say why in a comment before them (`<!-- not run: reason -->`), and are counted.
"""

import json
import shutil
import tomllib
from collections import Counter

import pytest
import yaml

from tests.docs.blocks import ORIGINALS, PAGES, ROOT, blocks_of
from tests.docs.stage import Failed, Stage
from thresher.config.loading import load_config
from thresher.config.schema import CrawlConfig
from thresher.topics.taxonomy.taxonomy import TaxonomyReader

SHOWN = {"", "text"}
"""What a program prints, and drawings: nothing to run."""
CODE = {page: [block for block in blocks_of(page) if block.language not in SHOWN] for page in PAGES}
TRANSLATED = set(ORIGINALS)
"""Their blocks are those of the English pages, which run: `test_translations`."""
RUN_BY_ITS_OWN_TEST = {ROOT / "docs" / "howto" / "train-a-model.md"}
"""It needs a larger web than the others: `test_train_a_model`."""
TUTORIALS = set((ROOT / "docs" / "tutorial").glob("*.md"))
"""Of these the output that is shown is compared with the real one."""
FROM_NOTHING = {
    ROOT / "README.md",
    *(
        ROOT / "docs" / "howto" / f"{name}.md"
        for name in (
            "find-seeds",
            "use-in-python",
            "label-with-a-model",
            "pdfs",
        )
    ),
    *TUTORIALS,
}


@pytest.fixture(scope="module")
def tally():
    """How many blocks ran, were only checked, or have an excuse."""
    return Counter()


@pytest.fixture(scope="module")
def idle():
    """What was tried on the crawl that is over."""
    return set()


@pytest.fixture
def stage(page, world, idle, lazy_store, tmp_path, monkeypatch, request):
    folder = tmp_path / "reader"
    if page in FROM_NOTHING:
        folder.mkdir()
    else:
        shutil.copytree(world.prepared, folder)
    monkeypatch.setenv("THRESHER_WEBS", str(world.prepared / "webs"))
    monkeypatch.setenv("THRESHER_CACHE", str(world.prepared / "cache"))
    if any("pip install ./examples/" in block.text for block in CODE[page]):
        plugin = request.getfixturevalue("plugin")
        monkeypatch.syspath_prepend(plugin)
        monkeypatch.setenv("PYTHONPATH", str(plugin))
    lazy_store.empty()
    stage = Stage(folder, world, lazy_store.url, idle=None if page in FROM_NOTHING else idle)
    yield stage
    stage.close()


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if CODE[page] and page not in TRANSLATED | RUN_BY_ITS_OWN_TEST],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_block_of_a_page_runs(page, stage, tally):
    for block in CODE[page]:
        if block.excuse:
            tally["not run"] += 1
        else:
            try:
                tally["ran" if RUN[block.language](block, stage) else "checked"] += 1
            except Exception as error:
                raise Failed(f"{block.place}: {error}") from error


def run_console(block, stage):
    assert block.commands, "a console block begins its commands with $"
    ran = [run_command(command, shown, block, stage) for command, shown in block.dialogue]
    return any(ran)


def run_command(command, shown, block, stage):
    ran = stage.do(command)
    if shown and block.page in TUTORIALS:
        stage.check_output(shown)
    return ran


def run_python(block, stage):
    stage.execute(block.text)
    return True


def read_yaml(block, stage):
    """A part of topic.yaml must be one; a taxonomy too."""
    content = yaml.safe_load(block.text)
    if set(content) <= set(CrawlConfig.model_fields):
        (stage.folder / "topic.yaml").write_text(block.text, encoding="utf-8")
        load_config(stage.folder / "topic.yaml")
    elif block.page.name == "topics.md":
        (stage.folder / "taxonomy.yaml").write_text(block.text, encoding="utf-8")
        TaxonomyReader.open(stage.folder / "taxonomy.yaml").close()
    return False


def read_toml(block, stage):
    tomllib.loads(block.text)
    return False


def read_json(block, stage):
    json.loads(block.text)
    return False


RUN = {"console": run_console, "python": run_python, "yaml": read_yaml, "toml": read_toml, "json": read_json}


def test_the_count_is_printed(tally, capsys):
    with capsys.disabled():
        print(
            f"\nblocks of the documentation: {', '.join(f'{number} {what}' for what, number in sorted(tally.items()))}"
        )
    assert tally["ran"] >= tally["not run"], "more excuses than blocks that run"
