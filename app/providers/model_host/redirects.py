"""Keeps the host's HTTP clients from following redirects to other servers; used once, before the first request.

A redirect to another origin would carry the conversation there, and with two of the providers the key.
"""

from collections.abc import Callable
from typing import Any

import httpx

_PORTS = {"http": 80, "https": 443}


class RedirectRefused(httpx.RequestError):
    """A server redirected a request to another origin, which the text names; nothing was sent there."""


def refuse_other_origins() -> None:
    """Let no client of httpx follow a redirect to another scheme, host or port.

    LiteLLM, OpenAI's library and the host's own requests all send through httpx; there is no setting for
    this, as whether a redirect is followed can only be chosen for all origins at once.
    """
    for client in (httpx.Client, httpx.AsyncClient):
        # WORKAROUND: httpx has no public place between the redirect and the next request.
        build = _within_origin(client._build_redirect_request)  # noqa: SLF001 - see above
        client._build_redirect_request = build  # type: ignore[assignment]  # noqa: SLF001 - see above


def _within_origin(
    build: Callable[[Any, httpx.Request, httpx.Response], httpx.Request],
) -> Callable[[Any, httpx.Request, httpx.Response], httpx.Request]:
    def build_within_origin(self: Any, request: httpx.Request, response: httpx.Response) -> httpx.Request:
        redirected = build(self, request, response)
        if _origin(redirected.url) != _origin(request.url):
            target = f"{redirected.url.scheme}://{redirected.url.netloc.decode('ascii')}"
            raise RedirectRefused(target, request=request)
        return redirected

    return build_within_origin


def _origin(url: httpx.URL) -> tuple[str, bytes, int | None]:
    return url.scheme, url.raw_host, url.port or _PORTS.get(url.scheme)
