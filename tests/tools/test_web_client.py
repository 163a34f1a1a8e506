"""Servers that do not speak as they should, and certificates: told in words, on real sockets."""

import asyncio
import contextlib
import datetime as dt
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.core.tool import ToolError
from app.tools.tool_host import web
from app.tools.tool_host.web import AddressPolicy, Download, WebLimits, checked_url, download

LOCAL = AddressPolicy(named=frozenset({"127.0.0.1"}))
GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi"


async def read(url: str, seconds: float = 2.0) -> Download:
    return await download(url, policy=LOCAL, limits=WebLimits(seconds=seconds), accepts=("text/",))


async def refusal(url: str) -> str:
    with pytest.raises(ToolError) as raised:
        await read(url)
    return str(raised.value)


@contextlib.asynccontextmanager
async def saying(answer: bytes, *, security: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Run a server that says this to everyone and hangs up; gives its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    running = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=security)
    async with running:
        yield running.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\ncut",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200_000 + b"\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://\xff\xfe/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: /" + b"x" * 7_000 + b"\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=["silent", "ssh", "tls", "cut", "chunks", "header", "headers", "status", "v6", "bytes", "long"],
)
async def test_a_server_that_speaks_no_proper_http_is_told_in_words(answer: bytes) -> None:
    async with saying(answer) as port:
        text = await refusal(f"http://127.0.0.1:{port}/")
    assert text.endswith(".") or "could not be read" in text
    assert len(text) < 500


async def test_what_a_server_claims_cannot_break_the_lines_of_an_error() -> None:
    async with saying(b"HTTP/1.1 500 Oh\tno " + b"y" * 3_000 + b"\r\nContent-Length: 0\r\n\r\n") as port:
        text = await refusal(f"http://127.0.0.1:{port}/")
    assert "answered 500" in text
    assert len(text) < 300


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a key and a certificate of its own making for `named.example`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "named.example")])
    today = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(today - dt.timedelta(days=1))
        .not_valid_after(today + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("named.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "named.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def security(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def _named(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every name lead to this computer."""

    def look_up(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    web._certificates.cache_clear()
    yield
    web._certificates.cache_clear()


@pytest.mark.usefixtures("_named")
async def test_a_secure_server_is_asked_for_and_checked_by_its_name(
    security: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []
    security.sni_callback = lambda _socket, name, _context: asked.append(name)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with saying(GOOD, security=security) as port:
        found = await read(f"https://named.example:{port}/")
        assert found.data == b"hi"
        assert asked == ["named.example"]
        assert "no valid certificate" in await refusal(f"https://other.example:{port}/")


@pytest.mark.usefixtures("_named")
async def test_a_certificate_nobody_vouches_for_is_refused(security: ssl.SSLContext) -> None:
    async with saying(GOOD, security=security) as port:
        assert "no valid certificate" in await refusal(f"https://named.example:{port}/")


def test_a_space_in_the_path_of_an_address_is_encoded() -> None:
    assert str(checked_url("https://example.org/원격 근무?q=a b")) == (
        "https://example.org/%EC%9B%90%EA%B2%A9%20%EA%B7%BC%EB%AC%B4?q=a+b"
    )
    for address in ("https://exam ple.org/", "https://example.org/a\tb"):
        with pytest.raises(ToolError):
            checked_url(address)
