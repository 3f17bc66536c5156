"""Parser for taxonomies written by hand in YAML.

Names alone, in one language or two, or names with details:

    Sports: [Basketball 篮球, Football 足球]
    Science:
      zh: 科学
      description: Research and those who do it.
      children:
        - Physics 物理
        - Solar cells:
            zh: 太阳能电池
            examples: [https://a.example/, {url: https://b.example/, title: Cells, description: All about cells}]

A name may contain the English and the Chinese label. Below a name is nothing, a list of names, a mapping of names, or a
mapping of details. Scalars are read as written, so that ``no`` is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import yaml

from thresher.config.yaml_tree import MAX_BYTES, compose
from thresher.errors import ConfigError
from thresher.text.tokens import CJK
from thresher.topics.taxonomy.paths import clean_path
from thresher.topics.taxonomy.tables import clean_text, is_web_address
from thresher.topics.taxonomy.writer import TaxonomyWriter

_DETAILS = ("children", "description", "en", "examples", "zh")
_PAGE = ("description", "title", "url")
_PLAIN_TAGS = {f"tag:yaml.org,2002:{tag}" for tag in ("str", "int", "float", "bool", "null", "timestamp", "merge")}
_TREE_TAGS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_CHINESE = re.compile(rf"[{CJK}][{CJK}\d·（）()、]*")


def read_yaml(file: BinaryIO, name: str, writer: TaxonomyWriter) -> None:
    """Read a taxonomy; strictly, and every error message names the line.

    Raises:
        ConfigError: It is not valid.
    """
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{name}: more than {MAX_BYTES >> 20} MB of YAML; write a table of paths, one per line")
    try:
        root = compose(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: not UTF-8 text (byte {error.start})") from error
    if root is None:
        raise ConfigError(f"{name}: no topic in it.")
    _Reader(name, writer).names_below("", root)


@dataclass(frozen=True)
class _Reader:
    """Writes the YAML tree of one file into a taxonomy."""

    name: str
    writer: TaxonomyWriter

    def names_below(self, above: str, tree: yaml.Node) -> None:
        """Read a list of names, or a mapping from names to what is below each."""
        if not isinstance(tree, yaml.ScalarNode) and tree.tag not in _TREE_TAGS:
            raise self.error(tree, "tags are not supported")
        if isinstance(tree, yaml.SequenceNode):
            for entry in tree.value:
                if isinstance(entry, yaml.MappingNode):
                    self.names_below(above, entry)
                else:
                    self.topic(above, entry)
        elif isinstance(tree, yaml.MappingNode):
            for key, value in self.pairs(tree):
                self.body(self.topic(above, key), value)
        else:
            raise self.error(tree, "expected a list or a mapping of names")

    def topic(self, above: str, tree: yaml.Node) -> str:
        """Add the node of a name, in one language or two; return its path."""
        name = self.text(tree)
        if "/" in name:
            raise self.error(tree, "a name may not contain a slash; levels are written below each other")
        labels = _split_label(name)
        path = clean_path(f"{above}/{next(iter(labels.values()), '')}")
        if not path or path == above:
            raise self.error(tree, "expected a name")
        for language, label in labels.items():
            self.writer.add_label(path, language, label)
        return path

    def body(self, path: str, tree: yaml.Node) -> None:
        if isinstance(tree, yaml.ScalarNode) and tree.tag.endswith(":null"):
            return
        keys = {key.value for key, _ in self.pairs(tree)} if isinstance(tree, yaml.MappingNode) else set()
        if keys & set(_DETAILS):
            self.details(path, tree)
        else:
            self.names_below(path, tree)

    def details(self, path: str, tree: yaml.Node) -> None:
        """Read labels, descriptions, example pages and children of a node."""
        for key, value in self.pairs(tree, known=_DETAILS):
            if key.value in ("en", "zh"):
                self.writer.add_label(path, key.value, self.text(value))
            elif key.value == "description":
                self.description(path, value)
            elif key.value == "examples":
                self.examples(path, value)
            else:
                self.names_below(path, value)

    def description(self, path: str, tree: yaml.Node) -> None:
        """Read a description, or one per language."""
        if isinstance(tree, yaml.MappingNode):
            for key, value in self.pairs(tree, known=("en", "zh")):
                self.writer.add_label(path, key.value, description=self.text(value))
        else:
            text = self.text(tree)
            self.writer.add_label(path, "zh" if _CHINESE.search(text) else "en", description=text)

    def examples(self, path: str, tree: yaml.Node) -> None:
        """Read example pages: URLs, or mappings of URL, title and description."""
        if not isinstance(tree, yaml.SequenceNode):
            raise self.error(tree, "expected a list of URLs")
        for entry in tree.value:
            page = {"url": entry}
            if isinstance(entry, yaml.MappingNode):
                page = {key.value: value for key, value in self.pairs(entry, known=_PAGE)}
            values = {key: self.text(value) for key, value in page.items()}
            if not is_web_address(values.get("url", "")):
                raise self.error(page.get("url", entry), "expected an http or https URL")
            self.writer.add_example(path, **values)

    def pairs(self, tree: yaml.Node, known: tuple[str, ...] = ()) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """Yield keys and values; refuse duplicate keys, and unknown ones where `known` is given."""
        seen: set[str] = set()
        for key, value in tree.value:
            if self.text(key) in seen:
                raise ConfigError(f"{self._line(key)}: {key.value} is given twice.")
            if known and key.value not in known:
                raise ConfigError(f"{self._line(key)}: unknown key {key.value}; known here: {', '.join(known)}.")
            seen.add(key.value)
            yield key, value

    def text(self, tree: yaml.Node) -> str:
        if not isinstance(tree, yaml.ScalarNode) or tree.tag not in _PLAIN_TAGS:
            raise self.error(tree, "expected text")
        return clean_text(tree.value)

    def error(self, tree: yaml.Node, what: str) -> ConfigError:
        value = repr(tree.value[:60]) if isinstance(tree, yaml.ScalarNode) else _word(tree)
        return ConfigError(f"{self._line(tree)}: found {value}; {what}.")

    def _line(self, tree: yaml.Node) -> str:
        return f"{self.name}:{tree.start_mark.line + 1}"


def _word(tree: yaml.Node) -> str:
    if tree.tag not in _TREE_TAGS:
        return f"the tag {tree.tag!r}"
    return "a list" if isinstance(tree, yaml.SequenceNode) else "a mapping"


def _split_label(name: str) -> dict[str, str]:
    """Split ``Basketball 篮球`` into its languages; a name in one script is not split."""
    chinese = " ".join(_CHINESE.findall(name))
    other = " ".join(_CHINESE.sub(" ", name).split())
    if chinese and other:
        return {"en": other, "zh": chinese}
    return {"zh" if chinese else "en": name} if name else {}
