"""Implements `core.provider.Network`: the proxy and certificates as variables in the environment
of child processes.
"""

import asyncio
import os
import re
import ssl
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # not in typeshed

import certifi

from app.children.host_client import HostClient
from app.children.private_files import replace_text
from app.children.processes import system_environment, use_variables
from app.core.errors import BadInput
from app.core.files import regular_size
from app.core.servers import has_user, is_web_address

_PROXY = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
_NO_PROXY = ("NO_PROXY", "no_proxy")
_HERE = ("localhost", "127.0.0.1", "::1")
CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
# Node adds these to its own.
_MORE_CERTIFICATES = "NODE_EXTRA_CA_CERTS"
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_MOST_BYTES = 5_000_000


def proxy_for(address: str) -> str:
    """Return the proxy through which child processes reach an address, "" where they ask its server directly.

    As in their HTTP clients, a variable in lower case comes before the same one in upper case.
    """
    variables = {name.lower(): value for name, value in sorted(system_environment().items())}
    parts = urlsplit(address)
    host = parts.hostname or ""
    # An IPv6 address stands in brackets in some lists, in others without.
    direct = ",".join((variables.get("no_proxy", ""), *_HERE)).replace("[", "").replace("]", "")
    if "*" in direct.split(",") or proxy_bypass_environment(host, {"no": direct}):
        return ""
    return variables.get(f"{parts.scheme}_proxy") or variables.get("all_proxy") or ""


def unsupported_proxy(address: str) -> str:
    """Return the SOCKS proxy through which child processes would have to reach an address, "" for none;
    without a password.
    """
    proxy = proxy_for(address)
    scheme, _, place = proxy.partition("://")
    return f"{scheme}://{place.rpartition('@')[2]}" if scheme.lower().startswith("socks") else ""


def missing_certificates() -> str:
    """Return the variable that names a file of certificates that is not there, as "NAME=file"; ""
    where there is none.
    """
    file = system_environment().get(CERTIFICATES[0], "")
    return f"{CERTIFICATES[0]}={file}" if file and not Path(file).exists() else ""


class HostNetwork:
    """Lets `hosts` and what they start use the user's proxy and certificates.

    `bundle` is the file in which the user's certificates are joined with the usual ones.
    """

    def __init__(self, bundle: Path, hosts: Sequence[HostClient] = ()) -> None:
        self._bundle = bundle
        self._hosts = hosts
        self._used: dict[str, str] = {}
        use_variables({})

    async def use(self, proxy: str, certificates: str) -> None:
        """Use a proxy and certificates; see `core.provider.Network`."""
        variables = _proxy_variables(proxy) if proxy else {}
        if certificates:
            variables |= await asyncio.to_thread(self._trust, certificates)
        # Other certificates in the same file change no variable.
        changed = variables != self._used or bool(certificates)
        self._used = variables
        use_variables(variables)
        if changed:
            for host in self._hosts:
                await host.renew()

    def _trust(self, certificates: str) -> dict[str, str]:
        file = Path(certificates).expanduser()
        own = _read(file)
        usual = Path(os.environ.get(CERTIFICATES[0]) or certifi.where())
        try:
            if not usual.is_file():
                usual = Path(certifi.where())
            replace_text(self._bundle, usual.read_text(encoding="utf-8") + "\n" + own)
        except OSError as error:
            detail = error.strerror or str(error)
            raise BadInput("certificates_unreadable", path=self._bundle, detail=detail) from error
        return dict.fromkeys(CERTIFICATES, str(self._bundle)) | {_MORE_CERTIFICATES: str(file)}


def _read(file: Path) -> str:
    """Return the certificates of a PEM file. Raises BadInput."""
    try:
        regular_size(file)
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise BadInput("certificates_unreadable", path=file, detail=detail) from error
    # Only certificates: such a file may have a private key too.
    found = "\n".join(_PEM.findall(data.decode("utf-8", "replace"))) + "\n"
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=found)
    except (ssl.SSLError, ValueError) as error:
        raise BadInput("certificates_none", path=file) from error
    return found


def _proxy_variables(proxy: str) -> dict[str, str]:
    """Return the variables for a proxy. Raises BadInput, with no text that may hold a password."""
    if has_user(proxy) or "@" in proxy:
        raise BadInput("proxy_password")
    parts = urlsplit(proxy) if is_web_address(proxy) else None
    if parts is None or parts.path.strip("/") or parts.query or parts.fragment:
        raise BadInput("proxy_invalid", address=proxy[:200])
    given = next(filter(None, map(os.environ.get, _NO_PROXY)), "")
    direct = ",".join(dict.fromkeys(filter(None, (*map(str.strip, given.split(",")), *_HERE))))
    return dict.fromkeys(_PROXY, proxy) | dict.fromkeys(_NO_PROXY, direct)
