"""Which addresses count as the open internet, whatever they are wrapped in."""

import pytest

from app.tools.tool_host.web import PUBLIC, AddressPolicy


@pytest.mark.threat("T21")
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "198.18.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "fe80::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "2001:db8::1",
        "2001:0:1::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2606:4700::1111%eth0",
        "127.1",
        "localhost",
        "",
    ],
)
def test_what_is_not_on_the_open_internet_is_refused(address: str) -> None:
    assert not PUBLIC.allows(address)
    assert AddressPolicy(named=frozenset({address})).allows(address)
    assert AddressPolicy(anywhere=True).allows(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "168.63.129.17",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::",
    ],
)
def test_what_is_on_the_open_internet_is_allowed(address: str) -> None:
    assert PUBLIC.allows(address)
