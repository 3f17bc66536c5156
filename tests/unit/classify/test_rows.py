import pytest

from thresher.classify.rows import Terms


def test_terms_come_back_from_their_packed_form():
    terms = Terms.of({"solar": 2.5, "电池": 0.6931, "cell": 1.0986})
    again = Terms.unpack(terms.pack())
    assert again.names == terms.names
    assert again.weights.tolist() == pytest.approx(terms.weights.tolist(), rel=1e-3)


def test_no_terms_are_packed_too():
    assert Terms.unpack(Terms.of({}).pack()).names == []


@pytest.mark.parametrize("content", [b"", b"no zstd", Terms.of({"solar": 1.0}).pack()[:-3]])
def test_what_was_not_packed_here_is_refused(content):
    with pytest.raises(ValueError, match="packed terms cannot be read"):
        Terms.unpack(content)
