"""Which addresses the web tools may connect to; `web_client` checks each one it is about to use."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

# Clouds hand out their secrets at these, which Python takes for public: Azure, Oracle.
_METADATA = (IPv4Network("168.63.129.16/32"), IPv4Network("192.0.0.0/24"))
# Where a network has no IPv4 of its own, the old addresses are reached through this one.
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Where a request may go: to public addresses, to `named` ones, or anywhere for the user's own server."""

    anywhere: bool = False
    named: frozenset[str] = frozenset()

    def allows(self, address: str) -> bool:
        """Say whether an IP address (its text, without brackets) may be connected to."""
        if self.anywhere or address in self.named:
            return True
        try:
            return _is_public(ip_address(address))
        except ValueError:
            return False


PUBLIC: Final = AddressPolicy()


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """Say whether an address is on the open internet, whatever it is wrapped in."""
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        wrapped = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            wrapped = IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped is not None:
            return _is_public(wrapped)
        if address.is_site_local:
            return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not any(address in network for network in _METADATA)
    )
