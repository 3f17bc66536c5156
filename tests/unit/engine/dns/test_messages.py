"""Queries are written and answers read as RFC 1035 says; whatever does not answer the query is refused."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.engine.dns import messages
from thresher.engine.dns.messages import AAAA, MAX_ANSWER_BYTES, A, BadMessage, answer, query

QUERY = query(7, "a.example", A)
POINTER = b"\xc0\x0c"
CNAME = 5


def record(data, kind=A, ttl=60, name=POINTER):
    return name + struct.pack("!2HIH", kind, 1, ttl, len(data)) + data


def message(*records, asked=QUERY, flags=0x8180, number=7, count=None):
    header = struct.pack("!6H", number, flags, 1, len(records) if count is None else count, 0, 0)
    return header + asked[12:] + b"".join(records)


def test_a_query_has_one_question():
    assert QUERY == b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x07example\x00\x00\x01\x00\x01"
    assert query(7, "a.example.", A) == QUERY


@pytest.mark.parametrize("name", ["", "a..b", "x" * 64 + ".example", ".".join(["abcdefg"] * 40), "b\u00fccher.example"])
def test_what_is_not_a_name_is_not_asked_for(name):
    with pytest.raises(BadMessage):
        query(7, name, A)


def test_addresses_are_read_with_the_shortest_ttl_of_all_records():
    found = answer(message(record(b"\x01b" + POINTER, CNAME, 30), record(bytes([1, 2, 3, 4]), ttl=90)), QUERY)
    assert (found.code, found.is_truncated, found.addresses, found.ttl) == (0, False, ["1.2.3.4"], 30)


def test_addresses_of_both_kinds_are_read():
    asked = query(7, "a.example", AAAA)
    address = bytes.fromhex("2600" + "00" * 13 + "01")
    found = answer(message(record(address, AAAA), record(bytes(4), A), asked=asked), asked)
    assert found.addresses == ["2600::1"]


def test_a_ttl_that_looks_negative_is_zero():
    assert answer(message(record(bytes(4), ttl=1 << 31)), QUERY).ttl == 0


def test_codes_and_truncation_are_seen():
    assert answer(message(flags=0x8183), QUERY).code == messages.NAME_ERROR
    assert answer(message(flags=0x8380), QUERY).is_truncated


@pytest.mark.parametrize(
    "data",
    [
        b"",
        message(number=8),
        message(flags=0x0100),
        message(asked=query(7, "b.example", A)),
        message(asked=query(7, "a.example", AAAA)),
        message(record(bytes(4)), count=2),
        message(record(bytes(3))),
        message(record(bytes(4)))[:-1],
        message(record(bytes(4), name=b"\x80x")),
        message(*[record(bytes(4))] * (MAX_ANSWER_BYTES // 16)),
    ],
    ids=["nothing", "number", "query", "name", "kind", "missing", "short", "cut", "label", "too long"],
)
def test_what_does_not_answer_the_query_is_refused(data):
    with pytest.raises(BadMessage):
        answer(data, QUERY)


def test_the_case_of_the_question_does_not_matter():
    assert answer(message(record(bytes(4)), asked=QUERY.replace(b"example", b"EXAMPLE")), QUERY).addresses


@given(st.binary(max_size=200))
def test_nothing_that_arrives_raises_another_error(noise):
    for data in (noise, message()[:29] + noise, message(count=3) + noise):
        with contextlib.suppress(BadMessage):
            answer(data, QUERY)
