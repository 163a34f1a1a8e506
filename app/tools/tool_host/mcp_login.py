"""Logs in to an MCP server at an address by OAuth 2.1; the parent keeps the tokens and asks the user.

The MCP library does the steps: discovery, registration, PKCE, the exchange and the refresh. This module adds
what it leaves open: where the browser comes back to, what is kept between runs, and which addresses may be
asked.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthRegistrationError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.shared import auth
from pydantic import AnyUrl, ValidationError

from app.core.servers import kept_login
from app.core.texts import visible
from app.core.tool import ServerProblem, ToolError

_REQUEST_BYTES = 8_000
_READ_SECONDS = 5.0
_PATH = "/callback"
_KEPT_OF_CLIENT = {"client_id", "client_secret", "token_endpoint_auth_method", "issuer"}
_KEPT_OF_METADATA = {"issuer", "authorization_endpoint", "token_endpoint"}
_KEPT_OF_RESOURCE = {"resource", "authorization_servers"}
# A private key of RSA takes more characters, one of an elliptic curve fewer.
_SHORTEST_RSA = 800
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

Agree = Callable[[str], Awaitable[bool]]


class LoginProblem(ToolError):
    """A login that is needed, was refused or did not work."""

    def __init__(self, text: str, problem: str = ServerProblem.LOGIN) -> None:
        super().__init__(text, problem)


def check_address(url: str, server: str) -> None:
    """Raise LoginProblem unless a login may use this address: https, or this computer
    for a server on this computer.
    """
    parsed = urlsplit(url)
    if parsed.scheme == "https" or (
        parsed.scheme == "http" and parsed.hostname in _LOOPBACK and urlsplit(server).hostname in _LOOPBACK
    ):
        return
    raise LoginProblem(f"Its login leads to an address that is not secure (https): {visible(url)[:200]}")


class Redirect:
    """A port of this computer to which the browser returns once; only an answer
    with the right `state` counts. `agree` asks the user about the page, and opens it.
    """

    def __init__(self, agree: Agree) -> None:
        self.agree = agree
        self.state = self.address = ""
        self.came: asyncio.Future[auth.AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncGenerator[None, None]:
        """Listen at the `address` to return to. Raises OSError."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_REQUEST_BYTES)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{_PATH}"
        try:
            yield
        finally:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, asyncio.LimitOverrunError, ValueError):
            async with asyncio.timeout(_READ_SECONDS):
                asked = await reader.readuntil(b"\r\n\r\n")
            status, text = self._take(asked.decode("latin-1").split(" "))
            body = f"<!doctype html><meta charset=utf-8><title>Moot</title><p>{escape(text)}</p>".encode()
            head = f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n"
            head += f"content-length: {len(body)}\r\nreferrer-policy: no-referrer\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
        writer.close()

    def _take(self, words: list[str]) -> tuple[str, str]:
        target = urlsplit(words[1] if len(words) > 2 and words[0] == "GET" else "")
        given = {name: values[0] for name, values in parse_qs(target.query).items() if len(values) == 1}
        if target.path != _PATH or not self.state or given.get("state") != self.state or self.came.done():
            return "400 Bad Request", "This is not the login that Moot waits for."
        if not given.get("code"):
            said = given.get("error_description") or given.get("error") or "no code"
            self.came.set_exception(LoginProblem(f"The login was refused: {visible(said)[:200]}"))
            return "200 OK", "The login was refused. You can close this page."
        code = {"code": given["code"], "state": given["state"], "iss": given.get("iss")}
        self.came.set_result(auth.AuthorizationCodeResult.model_validate(code))
        return "200 OK", "You can close this page and return to Moot."


class Login(OAuthClientProvider):
    """The login of one server; `kept` is what `on_change` was called with before, as text for the keyring.

    Without `redirect` nobody is asked: what is kept is used and refreshed. With it a new login begins: the
    user agrees to the exact address of the page. `on_failure` gets the reason, once. `client`
    is what the user entered: a client's ID, which may be the address of a document about it, and its secret
    or private key.
    """

    def __init__(
        self,
        server: str,
        kept: str,
        *,
        on_change: Callable[[str], None],
        on_failure: Callable[[ToolError], None],
        redirect: Redirect | None,
        client: Mapping[str, str] | None,
    ) -> None:
        address = redirect.address if redirect is not None else f"http://127.0.0.1{_PATH}"
        about: dict[str, Any] = {"client_name": "Moot", "token_endpoint_auth_method": "none"}
        metadata = auth.OAuthClientMetadata(redirect_uris=[AnyUrl(address)], **about)
        self._kept = kept_login(kept)
        self._given: Mapping[str, str] = client or self._kept.get("given") or {}
        client_id = self._given.get("client_id", "")
        url = client_id if client_id.startswith("https://") else None
        super().__init__(server, metadata, _Storage(self), self._show, self._wait, client_metadata_url=url)
        self._server = server
        self._on_change = on_change
        self._on_failure = on_failure
        self._redirect = redirect

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Drive the library's flow; check each address that is not the server's own, and report a failure."""
        flow = super().async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                if outgoing is not request:
                    check_address(str(outgoing.url), self._server)
                response = yield outgoing
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        except ToolError as error:
            self._on_failure(error)
            raise
        except GeneratorExit:
            raise
        except OAuthRegistrationError as error:
            # The server lets no program register itself.
            words = "Its login needs a client ID, which the owner of the server gives out."
            refused = LoginProblem(words, ServerProblem.CLIENT)
            self._on_failure(refused)
            raise refused from error
        except Exception as error:
            problem = LoginProblem(f"Its login did not work: {visible(str(error))[:300]}")
            self._on_failure(problem)
            raise problem from error
        finally:
            await flow.aclose()

    async def _initialize(self) -> None:
        """Load what is kept, with the server that refreshes it, which the library would look for anew."""
        await super()._initialize()
        context, kept = self.context, self._kept
        if self._redirect is not None:
            self._use_given()
            return
        try:
            context.client_info = auth.OAuthClientInformationFull.model_validate(kept["client"])
            context.current_tokens = auth.OAuthToken.model_validate(kept["tokens"])
            context.oauth_metadata = auth.OAuthMetadata.model_validate(kept["metadata"])
            if resource := kept["resource"]:
                context.protected_resource_metadata = auth.ProtectedResourceMetadata.model_validate(resource)
            # Without a known end the library would use a token until it is refused, and then not refresh it.
            context.token_expiry_time = float(kept["expires"])
        except (ValueError, KeyError, TypeError, ValidationError):
            context.client_info = context.current_tokens = None
            self._use_given()

    def _use_given(self) -> None:
        """Be the client that the user entered, if any, and no registered one."""
        if self._given and self.context.client_metadata_url is None:
            self.context.client_info = auth.OAuthClientInformationFull(
                client_id=self._given["client_id"],
                client_secret=self._given.get("client_secret") or None,
                redirect_uris=self.context.client_metadata.redirect_uris,
                token_endpoint_auth_method="none",  # noqa: S106 - the name of a method
            )

    async def _perform_authorization(self) -> httpx2.Request:
        """Ask for what was ever asked for; a client that the user entered logs in as the server wants it."""
        context = self.context
        asked = (context.client_metadata.scope, self._kept.get("scope"))
        context.client_metadata.scope = " ".join(dict.fromkeys(" ".join(filter(None, asked)).split())) or None
        secret, metadata = self._given.get("client_secret", ""), context.oauth_metadata
        if not secret or context.client_info is None or metadata is None:
            return await super()._perform_authorization()
        methods = metadata.token_endpoint_auth_methods_supported or ["client_secret_basic"]
        method = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        context.client_info.token_endpoint_auth_method = method
        grants = metadata.grant_types_supported or ["authorization_code"]
        if "authorization_code" in grants or "client_credentials" not in grants:
            return await super()._perform_authorization()
        # The server is for programs only: no page is opened.
        own = await self._program(secret)
        own.context = context
        return await own._perform_authorization()  # noqa: SLF001 - the library has no other way

    async def _program(self, secret: str) -> OAuthClientProvider:
        """Return the library's login for programs, by a private key where the secret is one."""
        own, metadata = self._given["client_id"], self.context.oauth_metadata
        given: dict[str, Any] = {"server_url": self._server, "storage": _Storage(self), "client_id": own}
        given["issuer"] = str(metadata.issuer) if metadata else None
        if not secret.startswith("-----BEGIN"):
            return ClientCredentialsOAuthProvider(**given, client_secret=secret)
        kind = "ES256" if "EC PRIVATE" in secret or len(secret) < _SHORTEST_RSA else "RS256"
        signed = SignedJWTParameters(issuer=own, subject=own, signing_key=secret, signing_algorithm=kind)
        return PrivateKeyJWTOAuthProvider(**given, assertion_provider=signed.create_assertion_provider())

    def changed(self) -> None:
        """Report the new tokens to the parent."""
        context = self.context
        if context.client_info is None or context.current_tokens is None or context.oauth_metadata is None:
            return
        resource, expires = context.protected_resource_metadata, context.token_expiry_time or time.time()
        kept = {"url": self._server, "expires": expires, "given": dict(self._given)}
        kept |= {"scope": context.client_metadata.scope, "tokens": _plain(context.current_tokens, None)}
        kept["client"] = _plain(context.client_info, _KEPT_OF_CLIENT)
        kept["metadata"] = _plain(context.oauth_metadata, _KEPT_OF_METADATA)
        kept["resource"] = _plain(resource, _KEPT_OF_RESOURCE) if resource else None
        self._keep(kept)

    def _keep(self, kept: dict[str, Any]) -> None:
        self._kept = kept
        self._on_change(json.dumps(kept))

    async def _show(self, url: str) -> None:
        # The user is asked once.
        if self._redirect is None or self._redirect.state:
            if self._kept:
                # The next login asks for what was wanted now.
                self._keep({**self._kept, "scope": self.context.client_metadata.scope})
            raise LoginProblem("Its login has ended.")
        check_address(url, self._server)
        self._redirect.state = parse_qs(urlsplit(url).query)["state"][-1]
        if not await self._redirect.agree(url):
            raise LoginProblem("The login was cancelled.")

    async def _wait(self) -> auth.AuthorizationCodeResult:
        assert self._redirect is not None
        return await self._redirect.came


class _Storage:
    """What the MCP library keeps tokens with; the login itself holds them."""

    def __init__(self, login: Login) -> None:
        self._login = login

    async def get_tokens(self) -> auth.OAuthToken | None:
        return None

    async def set_tokens(self, tokens: auth.OAuthToken) -> None:
        self._login.changed()

    async def get_client_info(self) -> auth.OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: auth.OAuthClientInformationFull) -> None:
        """Keep nothing: a registration without tokens is of no use."""


def _plain(model: Any, fields: set[str] | None) -> dict[str, Any]:
    plain: dict[str, Any] = model.model_dump(mode="json", include=fields, exclude_none=True)
    return plain
