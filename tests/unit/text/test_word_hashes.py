"""Words of a text are found and distinguished all at once."""

from hypothesis import given
from hypothesis import strategies as st

from thresher.text.term_ids import MAX_HASHED_BYTES, find_words

TEXT = st.text(alphabet="abcdefgh01   \u00e9\u6d77", max_size=200).map(str.encode)


@given(TEXT)
def test_words_are_found_where_they_stand(text):
    starts, ends, hashes = find_words(text)
    assert [text[start:end] for start, end in zip(starts, ends, strict=True)] == text.split()
    assert len(hashes) == len(starts)


@given(TEXT)
def test_words_have_the_same_hash_when_they_are_the_same(text):
    words, hashes = text.split(), find_words(text)[2].tolist()
    assert len(set(zip(words, hashes, strict=True))) == len(set(words)) == len(set(hashes))


def test_words_of_every_length_are_distinguished():
    words = [b"a" * size for size in range(1, MAX_HASHED_BYTES + 20)] + [
        b"a" * (MAX_HASHED_BYTES - 1) + b"b",
        b"b" + b"a" * 30,
    ]
    assert len(set(find_words(b" ".join(words))[2].tolist())) == len(words)
    assert 0 not in find_words(b" ".join(words))[2].tolist()
