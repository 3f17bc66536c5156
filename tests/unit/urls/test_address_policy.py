"""Addresses inside somebody's network are never dialled unless the user lists them."""

import pytest

from thresher.urls.address_policy import networks, private_network, refusal, refused_name


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34"])
def test_public_addresses_may_be_dialled(address):
    assert refusal(address) == ""


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "0.0.0.0", "100.64.0.1", "192.0.0.8", "198.18.0.1",
        "192.88.99.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "169.254.169.254", "::1", "::", "fe80::1",
        "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::127.0.0.1",
        "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::",
        "2001:0:4136:e378:8000:63bf:80ff:fffe", "not an address", "", "fec0::1", "3fff::1", "2001:0:7f00:1::a247:27dd",
        "2600::5efe:7f00:1", "64:ff9b:1:7f00:0:100::", "168.63.129.16", "::ffff:0:127.0.0.1",
    ],
)  # fmt: skip
def test_private_reserved_and_wrapped_addresses_are_refused(address):
    assert refusal(address)


def test_a_listed_network_may_be_dialled():
    allowed = networks(["127.0.0.0/8", "::1"])
    assert refusal("127.3.2.1", allowed) == ""
    assert refusal("::1", allowed) == ""
    assert refusal("10.0.0.1", allowed) == "a private address"


def test_metadata_addresses_stay_refused_even_when_listed():
    everything = networks(["0.0.0.0/0", "::/0"])
    assert refusal("169.254.169.254", everything)
    assert refusal("::ffff:169.254.169.254", everything)
    assert refusal("fd00:ec2::254", everything)


@pytest.mark.parametrize("name", ["localhost", "a.localhost", "db.internal", "printer.local", "intranet", "LOCALHOST."])
def test_private_names_are_not_looked_up(name):
    assert refused_name(name)


def test_public_names_are_looked_up():
    assert refused_name("example.org") == ""


def test_the_network_of_a_private_seed_is_named():
    assert private_network("127.0.0.9") == "127.0.0.0/8"
    assert private_network("localhost") == "127.0.0.0/8"
    assert private_network("192.168.1.7") == "192.168.1.7/32"
    assert private_network("::1") == "::1/128"
    assert private_network("example.org") == ""
    assert private_network("93.184.216.34") == ""
