"""Entries of a state store: small, read as data, and left out when they cannot be read."""

import json
import pickle
import zlib

import numpy as np
import pytest

from thresher.modelstate.codec import (
    BadArrays,
    BadEntry,
    compress,
    decompress,
    fitted,
    pack_both,
    pack_values,
    readable,
    unpack_both,
    unpack_values,
)


def test_values_come_back_as_they_were():
    values = {"太阳": [1, 2.5, None, True], "half": "\ud800"}
    assert unpack_values(pack_values(values)) == values


def test_arrays_and_values_travel_together():
    arrays, values = unpack_both(pack_both({"a": np.arange(3)}, {"seen": 7}))
    assert (arrays["a"].tolist(), values) == ([0, 1, 2], {"seen": 7})


@pytest.mark.parametrize(
    "content",
    [b"", b"nothing", zlib.compress(b"{}")[:-3], zlib.compress(b"[1]"), zlib.compress(b"{"), pickle.dumps({"a": 1})],
)
def test_what_we_did_not_write_is_refused(content):
    with pytest.raises(BadEntry):
        unpack_values(content)
    with pytest.raises((BadEntry, BadArrays)):
        unpack_both(content)


def test_a_few_bytes_cannot_fill_the_memory():
    with pytest.raises(BadEntry, match="more than"):
        decompress(compress(bytes(1000)), most=999)
    assert decompress(compress(bytes(1000)), most=1000) == bytes(1000)


def test_an_entry_is_made_smaller_until_it_fits():
    content, number = fitted(lambda most: bytes(10 * most + 5), 500, most_bytes=1000)
    assert number < 500
    assert 900 < len(content) == 10 * number + 5 <= 1000


def test_an_entry_that_fits_holds_everything():
    assert fitted(bytes, 10, most_bytes=1000) == (bytes(10), 10)


def test_what_cannot_be_read_is_left_out_and_the_rest_is_read(caplog):
    assert list(readable([b"1", b"{", b"2"], json.loads, "a number")) == [1, 2]
    assert "a number of another worker cannot be read" in caplog.text
