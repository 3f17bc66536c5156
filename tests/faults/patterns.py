"""Every regular expression of the source, and what it costs on hostile input of growing size.

Patterns are found where they stand: in the names of every module, bound to one of their methods or not, and as
literals in calls of `re`. Those that are made from a user's own words or patterns are listed by hand.
"""

from __future__ import annotations

import ast
import pkgutil
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import thresher

SLOWEST = 2
"""How many texts of each pattern are tried at full size: those that are slowest when small."""
_METHODS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub")
_FLAGS = ("IGNORECASE", "DOTALL", "MULTILINE", "ASCII", "VERBOSE")


@dataclass(frozen=True)
class Use:
    """A pattern and the way it is used."""

    place: str
    pattern: re.Pattern[Any]
    method: str


def uses() -> list[Use]:
    """Return every pattern of the source with the method that it is used by; search where that is not known."""
    found = {}
    for module in _modules():
        for use in [*_named(module), *_called(module)]:
            found[use.pattern, use.method] = use
    return list(found.values())


def _modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(thresher.__path__, "thresher."):
        if not info.name.endswith("__main__"):
            module = import_module(info.name)
            if str(module.__file__).endswith(".py"):  # a compiled module uses no patterns
                yield module


def _named(module: ModuleType) -> Iterator[Use]:
    for name, value in vars(module).items():
        pattern = getattr(value, "__self__", value)
        if isinstance(pattern, re.Pattern):
            for method in [value.__name__] if value is not pattern else _methods_of(module, name):
                yield Use(f"{module.__name__}.{name}", pattern, method)


def _methods_of(module: ModuleType, name: str) -> list[str]:
    """Look up how a module uses a pattern that it keeps whole."""
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    return [method for method in _METHODS if re.search(rf"\b{name}\.{method}\b", text)] or ["search"]


def _called(module: ModuleType) -> Iterator[Use]:
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_of_re(node.func) and isinstance(first := node.args[0], ast.Constant):
            method = ast.unparse(node.func).removeprefix("re.")
            yield Use(f"{module.__name__}:{node.lineno}", re.compile(first.value, _flags(node)), method)


def _is_of_re(function: ast.expr) -> bool:
    return ast.unparse(function) in [f"re.{method}" for method in _METHODS]


def _flags(call: ast.Call) -> int:
    written = " ".join(map(ast.unparse, [*call.args[1:], *(keyword.value for keyword in call.keywords)]))
    return sum(getattr(re, flag) for flag in _FLAGS if f"re.{flag}" in written)


def of_the_user() -> list[Use]:
    """Return patterns made from what a user writes: host patterns of a scope."""
    hosts = ["*.example.org", "*a*b*c*", "*" * 20 + "x"]
    return [Use(f"scope {host}", re.compile(translate(host)), "match") for host in hosts]


# Hostile input: pieces of text that the pattern itself names, repeated without end, and then something that it refuses.

_ATOMS = [
    "a", "A", "0", "f", " ", "\t", "\n", "/", "//", ".", "..", "a.", "-", "_", "a-", "%", "%4", "%41", "%25", "&",
    "&a=", "?", "=", "=a", "a=1&", ";", ";sid=", ";sid=a1", ":", ":1", "@", "(", "(a(", "/(a(", "[", "]", "<", "<a",
    "<a ", "<b ", "</b ", "<a b=", '="', "='", '"', "'", ">", "&#", "&#x", "&amp", "中", "中a", "é", "\xa0", "http://",
    "http://a.", "http://a/", "utm_", "&utm_a", "xn--", "1.", "11.", "255.", "<a href=\"", "<meta ",
    "<h3 id=\"siteSub\">", "<a href=\"/index/\">", "Related subjects:", "index.", "World/", "<n>", "dev:", "~{",
    "\x1b",
]  # fmt: skip
_TAILS = ["", "\0", "!", "\n\0", "中\0"]


def hostile(use: Use, number: int, seed: int = 0) -> Iterator[Callable[[int], str]]:
    """Yield makers of text of any size for a pattern: a start, something repeated, an end that does not fit."""
    draw = random.Random(f"{use.pattern.pattern!r}{seed}")
    own = _literals(use.pattern)
    for atom in [*_ATOMS, *own]:
        yield _maker("", atom, "\0")
    for _ in range(number):
        start = "".join(draw.choices([*own, *_ATOMS, ""], k=draw.randint(0, 2)))
        atom = "".join(draw.choices([*own, *_ATOMS], k=draw.randint(1, 3)))
        yield _maker(start, atom, draw.choice(_TAILS))


def _literals(pattern: re.Pattern[Any]) -> list[str]:
    """Return words of the pattern that stand for themselves, alone and in a row."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    words = re.findall(r"[A-Za-z0-9<>/=\"']{1,20}", re.sub(r"\\.", " ", text))[:30]
    return list(dict.fromkeys([*words, "".join(words)[:60]])) if words else []


def _maker(start: str, atom: str, tail: str) -> Callable[[int], str]:
    return lambda size: (start + atom * (size // len(atom) + 1))[:size] + tail


class TooSlow(Exception):
    """The time for one input is over."""


def seconds(use: Use, text: str, most: float) -> float:
    """Time a pattern on a text, by the processor; `most` when it takes longer."""
    subject: Any = text if isinstance(use.pattern.pattern, str) else text.encode("utf-8", "replace")
    call = getattr(use.pattern, use.method)
    old = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    start = time.process_time()
    try:
        found = call(subject[:0], subject) if use.method == "sub" else call(subject)
        if use.method == "finditer":
            for _ in found:
                pass
        return time.process_time() - start
    except TooSlow:
        return most
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)


def _stop(_: int, __: FrameType | None) -> None:
    raise TooSlow


def slow_ones(use: Use, *, tries: int, small: int, large: int, most_seconds: float) -> tuple[float, str]:
    """Give the longest time on texts of `large` characters, and the text on which it is up; empty if there is none.

    All texts are tried at `small`, and the slowest of them at `large`.
    """
    timed = []
    for make in hostile(use, tries):
        taken = seconds(use, make(small), most_seconds / 10)
        if taken >= most_seconds / 10:
            return most_seconds, repr(make(60))
        timed.append((taken, make))
    timed.sort(reverse=True, key=lambda entry: entry[0])
    longest = 0.0
    for _, make in timed[:SLOWEST]:
        taken = seconds(use, make(large), most_seconds)
        longest = max(longest, taken)
        if taken >= most_seconds:
            return longest, repr(make(60))
    return longest, ""
