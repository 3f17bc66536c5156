"""The test of the blocks would notice: what is wrong fails, and what is excused is read as such."""

import pytest

from tests.docs.blocks import Block, blocks_of
from tests.docs.stage import Failed, Stage

PAGE = """# A page

<!-- not run: needs a cluster -->
```console
$ kubectl apply
```

- a list

    ```console
    $ thresher status \\
        solar
    running
    $ thresher hosts solar
    ```

```text
$ nothing to run
```
"""


@pytest.fixture
def stage(world, tmp_path):
    stage = Stage(tmp_path, world, lambda: "redis://127.0.0.1:9/0")
    yield stage
    stage.close()


def test_blocks_are_read_with_their_language_excuse_and_commands(tmp_path):
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    first, second, third = blocks_of(tmp_path / "page.md")
    assert (first.language, first.excuse, first.line) == ("console", "needs a cluster", 5)
    assert (second.excuse, second.commands) == ("", ["thresher status \\\n    solar", "thresher hosts solar"])
    assert third.language == "text"


def test_output_is_no_command():
    assert Block(None, 1, "console", "$ ls\na  b\n").commands == ["ls"]


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("kubectl apply", "nobody knows how to run 'kubectl'"),
        ("thresher status nowhere", "ended with 2"),
        ("thresher plan --pages 1e6", "ended with 2"),
        ('pip install "thresher-crawler[nothing]"', "there is no extra"),
        ("python -m bench.nothing", "is not there"),
        ("make nothing", "there is no such target"),
        ("ls nowhere", "ended with 2"),
    ],
)
def test_what_is_wrong_fails(stage, command, printed):
    with pytest.raises(Failed, match=printed):
        stage.do(command)


def test_what_stands_for_a_readers_own_is_replaced(stage, world):
    assert stage.adapted("thresher new a --seed https://…  # begin") == f"thresher new a --seed {world.seed}"
    assert stage.adapted("thresher why a https://…") == f"thresher why a {world.good}"
    assert stage.adapted("thresher join --store redis://store:6379/0") == "thresher join --store redis://127.0.0.1:9/0"


def test_a_command_that_ends_well_is_run_and_an_installation_is_only_checked(stage):
    assert stage.do("thresher strategies shark")
    assert not stage.do('pip install -c constraints.txt -e ".[dev]"')
