"""A proxy and certificates of the user's own: real ones, once in a host that is started as users start it."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import certifi
import pytest
import pytest_asyncio

from app.children.host_client import HostNetwork, proxy_for, unsupported_proxy
from app.children.processes import child_environment, use_variables
from app.core.errors import BadInput
from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import Answer, WireServer
from tests.wire.certificates import OwnCertificates, own_certificates
from tests.wire.fixtures import FOUR
from tests.wire.proxy import LocalProxy

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def own(tmp_path: Path) -> OwnCertificates:
    return own_certificates(tmp_path)


@pytest_asyncio.fixture
async def asker(tmp_path: Path) -> AsyncIterator[tuple[Book, RemoteModels, HostNetwork]]:
    """A host of the test's own, and the network that it is started with."""
    book = Book()
    models = book.models(tmp_path)
    yield book, models, HostNetwork(tmp_path / "certificates.pem", (models,))
    await models.close()
    use_variables({})


def port_of(server: WireServer) -> int:
    port = urlsplit(server.address).port
    assert port is not None
    return port


@pytest.mark.slow
@pytest.mark.own_host
async def test_a_companys_proxy_and_certificate_are_used_by_every_route(
    own: OwnCertificates, asker: tuple[Book, RemoteModels, HostNetwork]
) -> None:
    book, models, network = asker
    with LocalProxy() as proxy:
        await network.use(proxy.address, str(own.authority))
        for kind in FOUR:
            with WireServer(kind, security=own.server) as server:
                path = urlsplit(server.address).path
                book.add(kind, kind, f"https://models.example{path}", server.key, server.models)
                proxy.port = port_of(server)
                heard = await ask(models, request_to(server))
                assert heard.text, heard.error
                assert (await models.list_models(kind)).models == server.models
                assert len(server.requests) == 1 and server.listings == 1
        assert set(proxy.targets) == {"models.example:443"}


async def test_a_server_on_this_computer_is_asked_directly(
    own: OwnCertificates, asker: tuple[Book, RemoteModels, HostNetwork]
) -> None:
    book, models, network = asker
    with WireServer("ollama", security=own.server) as server, LocalProxy(port_of(server)) as proxy:
        book.add("ollama", "ollama", server.address, None, server.models)
        await network.use(proxy.address, str(own.authority))
        assert (await ask(models, request_to(server))).text
        assert proxy.targets == []
        with WireServer("ollama", models=server.models) as plain:
            book.add(
                "ollama", "ollama", f"http://models.example{urlsplit(plain.address).path}", None, plain.models
            )
            assert (await ask(models, request_to(server))).error is not None
            assert proxy.targets == ["models.example:80"], "other servers are reached through the proxy"


async def test_what_was_asked_before_a_change_is_answered_and_what_is_asked_later_uses_it(
    own: OwnCertificates, asker: tuple[Book, RemoteModels, HostNetwork]
) -> None:
    book, models, network = asker
    with WireServer("openai") as slow, WireServer("openai", provider_id="own", security=own.server) as secure:
        book.add("openai", "openai", slow.address, slow.key, slow.models)
        book.add("own", "openai", secure.address, secure.key, secure.models)
        slow.script(slow.model, [Answer("A long answer. " * 20, pace=0.05)])
        asked = asyncio.create_task(ask(models, request_to(slow)))
        while not (slow.requests or asked.done()):
            await asyncio.sleep(0.02)
        before = models.host_pid
        assert (await ask(models, request_to(secure))).outcome == "certificate"
        await network.use("", str(own.authority))
        assert (await ask(models, request_to(secure))).text
        assert models.host_pid != before
        assert (await asked).text == "A long answer. " * 20
        assert before is not None
        async with asyncio.timeout(20):
            while Path(f"/proc/{before}").exists() and os.name == "posix":
                await asyncio.sleep(0.02)
        await network.use("", "")
        assert (await ask(models, request_to(secure))).outcome == "certificate"


async def test_the_certificates_are_trusted_besides_the_usual_ones(
    own: OwnCertificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    network = HostNetwork(tmp_path / "certificates.pem")
    with_key = tmp_path / "server.pem"
    for file in (own.authority, with_key):
        await network.use("", str(file))
        environment = child_environment()
        assert environment["NODE_EXTRA_CA_CERTS"] == str(file)
        for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            bundle = Path(environment[name]).read_text()
            assert bundle.count("BEGIN CERT") == Path(certifi.where()).read_text().count("BEGIN CERT") + 1
            assert "PRIVATE KEY" not in bundle
    assert "HTTPS_PROXY" not in environment or os.environ.get("HTTPS_PROXY")
    await network.use("", "")
    assert child_environment().get("SSL_CERT_FILE") == os.environ.get("SSL_CERT_FILE")


async def test_this_computer_is_added_to_what_needs_no_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "intern.example, localhost")
    await HostNetwork(tmp_path / "certificates.pem").use("http://proxy.example:8080", "")
    environment = child_environment()
    assert environment["HTTPS_PROXY"] == environment["http_proxy"] == "http://proxy.example:8080"
    assert environment["NO_PROXY"] == environment["no_proxy"] == "intern.example,localhost,127.0.0.1,::1"
    use_variables({})


@pytest.mark.parametrize(
    ("proxy", "certificates", "code"),
    [
        ("http://me:secret-canary@proxy.example:8080", "", "proxy_password"),
        ("http://me@proxy.example:8080", "", "proxy_password"),
        ("me:secret-canary@proxy.example", "", "proxy_password"),
        ("proxy.example:8080", "", "proxy_invalid"),
        ("socks5://proxy.example:1080", "", "proxy_invalid"),
        ("http://proxy.example:99999", "", "proxy_invalid"),
        ("http://proxy.example:8080/path", "", "proxy_invalid"),
        ("", "/no/such/file.pem", "certificates_unreadable"),
        ("", "FOLDER", "certificates_unreadable"),
        ("", "FOLDER/empty.pem", "certificates_none"),
        ("", "FOLDER/broken.pem", "certificates_none"),
    ],
)
async def test_what_cannot_be_used_is_refused_and_changes_nothing(
    proxy: str, certificates: str, code: str, tmp_path: Path
) -> None:
    (tmp_path / "empty.pem").write_text("")
    block = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    (tmp_path / "broken.pem").write_text(block)
    network = HostNetwork(tmp_path / "certificates.pem")
    await network.use("http://proxy.example:8080", "")
    with pytest.raises(BadInput) as refused:
        await network.use(proxy, certificates.replace("FOLDER", str(tmp_path)))
    assert refused.value.code == code
    assert "canary" not in str(refused.value.details)
    assert child_environment()["HTTPS_PROXY"] == "http://proxy.example:8080"
    use_variables({})


@pytest.mark.slow
@pytest.mark.own_host
async def test_a_server_that_only_the_proxy_reaches_is_found_and_one_behind_a_dead_proxy_is_not(
    asker: tuple[Book, RemoteModels, HostNetwork],
) -> None:
    book, models, network = asker
    with WireServer("ollama") as server, LocalProxy(port_of(server)) as proxy:
        book.add("ollama", "ollama", "http://models.example/v1", None, server.models)
        await network.use(proxy.address, "")
        assert await models.listens("ollama")
        assert proxy.targets == ["models.example:80"]
        assert (await ask(models, request_to(server))).text
        await network.use("http://127.0.0.1:9", "")
        assert not await models.listens("ollama")


@pytest.mark.slow
@pytest.mark.own_host
async def test_a_socks_proxy_is_refused_by_its_name_and_harms_no_server_on_this_computer(
    asker: tuple[Book, RemoteModels, HostNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    book, models, _ = asker
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "socks5://me:secret@127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/none.pem")
    with WireServer("ollama") as server:
        book.add("ollama", "ollama", server.address, None, server.models)
        assert (await models.list_models("ollama")).models == server.models
        assert (await ask(models, request_to(server))).text
        book.add("ollama", "ollama", "http://models.example/v1", None, server.models)
        heard = await ask(models, request_to(server))
        assert heard.error is not None
        assert (heard.error.kind, heard.error.detail) == ("socks", "socks5://127.0.0.1:9")
        assert (await models.list_models("ollama")).failure == "socks"


@pytest.mark.parametrize(
    ("address", "no_proxy", "proxy"),
    [
        ("http://[::1]:8080/v1", "", ""),
        ("http://[fd00::5]:8080/v1", "[fd00::5]", ""),
        ("http://[fd00::5]:8080/v1", "fd00::5", ""),
        ("http://models.example/v1", ".example", ""),
        ("http://models.example/v1", "*", ""),
        ("http://models.example/v1", "other.example", "http://plain:1"),
        ("https://models.example/v1", "", "http://secure:2"),
    ],
)
def test_which_proxy_an_address_has(
    address: str, no_proxy: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"http_proxy": "http://plain:1", "https_proxy": "http://secure:2", "no_proxy": no_proxy}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
        monkeypatch.delenv(name.upper(), raising=False)
    assert proxy_for(address) == proxy
    assert unsupported_proxy(address) == ""
