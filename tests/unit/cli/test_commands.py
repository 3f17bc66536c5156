"""The texts of all commands: tasks, examples, values of options, --json."""

import click
import pytest
from click.testing import CliRunner

from testing.command_tree import all_commands, examples_of, words_of
from thresher.cli import COMMANDS, FIRST, TASKS, thresher
from thresher.cli.output import JsonOption

ALL = all_commands()
WITHOUT_JSON = {
    "completion": "prints a script",
    "demo": "a race to look at",
    "lab serve": "runs until Ctrl-C",
    "mcp": "runs until the agent ends it",
    "ui": "runs until Ctrl-C",
}
FILES = (
    *("classes.tsv", "content.rdf.u8.gz", "good.txt", "my-topics.yaml", "odp.taxonomy", "structure.rdf.u8.gz"),
    *("urls.txt", "webkb.jsonl", "wikispeedia.jsonl"),
)
FOLDERS = ("crawls", "solar", "wind")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which the examples are typed."""
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        (tmp_path / name).touch()
    for name in FOLDERS:
        (tmp_path / name).mkdir()
    return tmp_path


def parsed(words):
    """Parse a command line up to the command that does the work, without calling it."""
    group, context = thresher, click.Context(thresher, info_name="thresher")
    while isinstance(group, click.Group):
        name, group, words = group.resolve_command(context, words)
        context = (
            group.make_context(name, list(words), parent=context) if not isinstance(group, click.Group) else context
        )
    return name, context


def listed(*arguments):
    result = CliRunner().invoke(thresher, [*arguments], prog_name="thresher", terminal_width=80)
    assert result.exit_code == 0
    return result.stdout.splitlines()


def test_the_first_screen_has_ten_commands_and_says_how_to_list_all():
    lines = listed("--help")
    place = lines.index(f"Commands (--all lists all {len(COMMANDS)}):") + 1
    assert [line.split()[0] for line in lines[place:]] == [*FIRST]
    assert len(FIRST) == 10
    assert len(lines) <= 32


@pytest.mark.parametrize("arguments", [["--all"], ["--help", "--all"]])
def test_all_lists_every_command_in_one_line_of_its_task(arguments):
    lines = listed(*arguments)
    for task, commands in TASKS.items():
        those = lines[lines.index(f"{task}:") + 1 :][: len(commands)]
        assert [line.split() for line in those] == [[name, *does.split()] for name, does in commands.items()]
    assert {name.split()[0] for name in ALL} == set(COMMANDS)


def test_the_help_lists_the_commands_in_the_language_of_the_user(monkeypatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "  stop        在所有机器上停止抓取任务。" in listed("--all")
    assert f"命令（--all 列出全部 {len(COMMANDS)} 个）:" in listed("--help")


@pytest.mark.parametrize("name", ALL)
def test_every_example_is_a_command_line_that_can_be_parsed(name, folder):
    examples = examples_of(ALL[name])
    assert examples, "its help has no examples"
    for example in examples:
        words = words_of(example)
        assert words[: len(name.split())] == name.split()
        parsed(words)


def test_the_examples_of_the_whole_are_command_lines(folder):
    for example in examples_of(thresher):
        parsed(words_of(example))


@pytest.mark.parametrize(
    "wrong", ["run solar --page 5", "run solar --pages many", "run nowhere", "changes solar --since now"]
)
def test_an_example_with_a_wrong_option_or_value_is_found(wrong, folder):
    with pytest.raises(click.UsageError):
        parsed(wrong.split())


@pytest.mark.parametrize("name", ALL)
def test_every_option_says_what_its_value_looks_like(name):
    used = {word.partition("=")[0] for example in examples_of(ALL[name]) for word in words_of(example)}
    for option in ALL[name].params:
        if not isinstance(option, click.Option) or option.is_flag or isinstance(option.type, click.Choice):
            continue
        is_shown = option.show_default and option.default not in ("", None)
        assert option.help
        assert is_shown or "such as" in option.help or used & {*option.opts}, option.opts


@pytest.mark.parametrize("name", ALL)
def test_every_command_with_a_result_prints_it_as_json(name):
    takes_it = any(isinstance(option, JsonOption) for option in ALL[name].params)
    assert takes_it is (name not in WITHOUT_JSON)
    assert not any("--json" in option.opts for option in ALL[name].params if not isinstance(option, JsonOption))


def test_only_known_commands_are_without_json():
    assert set(WITHOUT_JSON) <= set(ALL)
