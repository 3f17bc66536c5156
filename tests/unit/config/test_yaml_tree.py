"""YAML is read as a tree; what could fill the memory or run something is refused, and its line is named."""

import pytest

from thresher.config.yaml_tree import compose
from thresher.errors import ConfigError


def test_nodes_know_their_lines():
    root = compose("a.yaml", "a: 1\nb:\n  - c\n")
    assert [key.start_mark.line for key, _ in root.value] == [0, 1]


def test_an_empty_document_is_no_tree():
    assert compose("a.yaml", "# nothing\n") is None


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a: &x 1\nb: *x\n", 2, "aliases"),
        ("a: 1\nb: " + "[" * 200 + "]" * 200, 2, "nested too deeply"),
        ("a: 1\nb: [x\n", 3, "not YAML"),
        ("a: 1\nb: \x07\n", 2, r"U\+0007"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(text, line, why):
    with pytest.raises(ConfigError, match=rf"^a\.yaml:{line}: .*{why}"):
        compose("a.yaml", text)
