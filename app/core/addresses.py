"""Addresses of servers as users write them."""

import ipaddress
import re
from urllib.parse import urlsplit

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_WORD = re.compile(r"[\w-]+")


def with_scheme(address: str) -> str:
    """Return an address without blanks around it and with a scheme: http near this computer, https elsewhere.

    One that is no address stays none, and so does a single word other than localhost.
    """
    text = address.strip()
    if not text or _SCHEME.match(text) or (_WORD.fullmatch(text) and text.lower() != "localhost"):
        return text
    try:
        if ipaddress.ip_address(text).version == 6:
            text = f"[{text}]"
    except ValueError:
        pass
    return f"http://{text}" if is_near(f"http://{text}") else f"https://{text}"


def is_near(address: str) -> bool:
    """Return whether an address is on this computer or in its local network."""
    try:
        host = urlsplit(with_scheme(address)).hostname or ""
    except ValueError:
        return False
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost"))
