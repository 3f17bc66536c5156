"""Arrays come back as they were; what declares more than it holds is refused before it takes memory."""

import contextlib
import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.modelstate.codec import BadArrays, pack_arrays, unpack_arrays


def packed(content, *, compression=zipfile.ZIP_STORED, name="a.npy"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def array_with(shape, kind="'<f8'"):
    header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)


def test_arrays_come_back_as_they_were():
    arrays = {"numbers": np.arange(6).reshape(2, 3), "words": np.array(["a", "中"]), "none": np.zeros((0, 5))}
    again = unpack_arrays(pack_arrays(arrays))
    assert again.keys() == arrays.keys()
    assert all((again[name] == arrays[name]).all() and again[name].shape == arrays[name].shape for name in arrays)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed(array_with("(10000000000,)")), "declares 10,000,000,000 values"),
        (packed(array_with("(4294967296, 4294967296)")), "declares"),
        (packed(array_with("(-1, 2)")), "declares"),
        (packed(array_with("(1,)", "'|O'")), "neither numbers nor text"),
        (packed(array_with("(1,)", "[('x', '|O')]")), "neither numbers nor text"),
        (packed(array_with("(8,)"), compression=zipfile.ZIP_DEFLATED), "compressed or not an array"),
        (packed(b"x", name="../evil.txt"), "compressed or not an array"),
        (b"\x80\x04N.", "not a zip file"),
    ],
)
def test_what_is_not_ours_is_refused(content, message):
    with pytest.raises(BadArrays, match=message):
        unpack_arrays(content)


@given(st.binary(max_size=200), st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_damage_is_refused_or_harmless(noise, place, patch):
    whole = pack_arrays({"a": np.arange(8.0)})
    for content in (noise, whole[:place], whole[:place] + patch + whole[place + len(patch) :]):
        with contextlib.suppress(BadArrays):
            unpack_arrays(content)
