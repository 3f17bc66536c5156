"""Addresses of stores are parsed, compared, and written without what is secret."""

import pytest

from thresher.urls.store_address import StoreAddress, same_store, shown_store


def test_what_is_left_out_has_its_usual_value():
    address = StoreAddress.parse("redis://Store.Example")
    assert (address.host, address.port, address.database, address.shown) == (
        "store.example",
        6379,
        0,
        "redis://store.example:6379/0",
    )


def test_user_and_password_may_stand_among_the_options():
    address = StoreAddress.parse("redis://store.example?username=me&password=p@ss&db=3&ssl_ca_certs=/ca.pem")
    assert (address.user, address.password, address.database) == ("me", "p@ss", 3)
    assert address.recorded == "redis://me@store.example:6379/3?ssl_ca_certs=%2Fca.pem"
    assert "p%40ss" in address.url


@pytest.mark.parametrize(
    "url", ["", "redis://", "redis://:secret@", "http://a.example", "redis://a:b:c", "redis://a:99999", "redis://a/x"]
)
def test_what_is_no_address_is_none(url):
    assert StoreAddress.parse(url) is None
    assert "secret" not in shown_store(url)


def test_schemes_of_valkey_and_of_clusters_are_known():
    assert StoreAddress.parse("valkeys://a.example").url == "rediss://a.example:6379/0"
    assert StoreAddress.parse("redis+cluster://a.example:7000").is_cluster
    assert not same_store("sqlite", "redis://a.example")
    assert same_store("sqlite", "sqlite")


def test_a_user_without_a_password_may_be_a_password_and_is_not_recorded():
    assert StoreAddress.parse("redis://secret@a.example").recorded == "redis://a.example:6379/0"


def test_another_process_gets_all_that_was_given():
    url = "redis+cluster://me:p@ss@a.example:7000/0?x=1"
    assert StoreAddress.parse(StoreAddress.parse(url).given) == StoreAddress.parse(url)
