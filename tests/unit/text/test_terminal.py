"""Text of strangers goes to a terminal or a log without being obeyed there."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.terminal import printable, printable_json


@pytest.mark.parametrize(
    "text", ["", "plain", "中文　标题", "Ünïcode – “quotes” €", "👩‍🔬", "می‌روم", "Donau\u00addampf"]
)
def test_honest_text_stays_as_it_is(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "�[2Jgone"),
        ("\x9b2Jgone", "�2Jgone"),
        ("a\x7fb\x00c", "a�b�c"),
        ("one\r\ntwo\u2028three", "one  two three"),
        ("safe\u202egpj.exe", "safe�gpj.exe"),
        ("\u2066a\u2069\u200f\u061c", "�a���"),
        ("\ud800", "�"),
        ("\U000e0041", "�"),
    ],
)
def test_what_would_be_obeyed_is_shown_as_unreadable(text, shown):
    assert printable(text) == shown


@given(st.text())
def test_what_is_printable_once_stays_so(text):
    assert printable(printable(text)) == printable(text)
    assert len(printable(text)) == len(text)


@given(st.dictionaries(st.text(), st.lists(st.text())), st.sampled_from([None, 2]))
def test_json_loses_nothing_and_obeys_nothing(value, indent):
    written = printable_json(value, indent=indent)
    assert json.loads(written) == value
    assert all(printable(line) == line for line in written.split("\n"))
    assert indent or "\n" not in written


def test_json_keeps_what_people_read():
    assert printable_json({"title": "中文 é"}) == '{"title": "中文 é"}'
