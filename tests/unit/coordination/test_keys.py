"""Keys of a crawl are its own."""

import pytest

from thresher.coordination.keys import key_of, pairs_of


def test_crawls_do_not_share_keys_and_one_crawls_keys_share_a_slot():
    assert key_of("solar", "run") == "th:{solar}:fleet:run"
    assert key_of("a}b", "run") != key_of("a", "run")
    assert key_of("a}{b", "run").count("{") == key_of("a}{b", "run").count("}") == 1


@pytest.mark.parametrize("answer", [[b"a", b"1", b"b", b"2"], {b"a": b"1", b"b": b"2"}])
def test_a_hash_is_read_in_both_forms_of_the_protocol(answer):
    assert pairs_of(answer) == {"a": "1", "b": "2"}
