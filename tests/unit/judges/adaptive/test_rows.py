import pytest

from thresher.judges.adaptive.terms import TermVector


def test_terms_come_back_from_their_packed_form():
    terms = TermVector.of({"solar": 2.5, "电池": 0.6931, "cell": 1.0986})
    again = TermVector.unpack(terms.pack())
    assert again.names == terms.names
    assert again.weights.tolist() == pytest.approx(terms.weights.tolist(), rel=1e-3)


def test_no_terms_are_packed_too():
    assert TermVector.unpack(TermVector.of({}).pack()).names == []


@pytest.mark.parametrize("content", [b"", b"no zstd", TermVector.of({"solar": 1.0}).pack()[:-3]])
def test_what_was_not_packed_here_is_refused(content):
    with pytest.raises(ValueError, match="packed terms cannot be read"):
        TermVector.unpack(content)
