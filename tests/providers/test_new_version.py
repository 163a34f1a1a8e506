"""Newer versions: a real child process asks a real server, once a day, and nothing but a whole answer counts."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import __version__
from app.children.host_client import HostNetwork
from app.children.processes import use_variables
from app.core.provider import NewVersion
from app.providers.new_version import VersionFile
from app.storage.paths import resources_dir
from tests.wire.proxy import LocalProxy
from tests.wire.versions import NEWS, VersionServer, version_server

pytestmark = [pytest.mark.timeout(120), pytest.mark.allow_blocking]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VersionServer]:
    with version_server(tmp_path) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.authority))
        yield server


def opened(server: VersionServer) -> VersionFile:
    """Return what a Moot that has just started looks with."""
    return VersionFile(server.resources / "new_version.json", server.resources)


def set_day(server: VersionServer, day: object) -> None:
    file = server.resources / "new_version.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"day": day}))


async def test_it_asks_once_a_day_and_sends_nothing_but_a_plain_request(server: VersionServer) -> None:
    versions = opened(server)
    wanted = NewVersion(version="9.1.0", day="2026-11-20", news=NEWS, link=f"https://{server.host}/new")
    assert await versions.look() == wanted
    assert await versions.look() == wanted
    # Another start on the same day knows the answer.
    assert await opened(server).look() == wanted
    [asked] = server.requests
    line, *headers = asked.decode().removesuffix("\r\n\r\n").split("\r\n")
    assert line == "GET /version.json HTTP/1.1"
    assert sorted(header.lower() for header in headers) == [
        "accept-encoding: identity", "connection: close", f"host: {server.host}", "user-agent: moot",
    ]  # fmt: skip
    assert __version__.encode() not in asked
    assert ((server.resources / "new_version.json").stat().st_mode & 0o777) == 0o600


@pytest.mark.parametrize("day", ["2026-11-20", "2999-01-01", "", None, 7])
async def test_it_asks_again_on_another_day_also_after_a_wrong_clock(
    server: VersionServer, day: object
) -> None:
    await opened(server).look()
    set_day(server, day)
    server.tell(version="9.2.0")
    found = await opened(server).look()
    assert found is not None and found.version == "9.2.0" and len(server.requests) == 2
    await opened(server).look()
    assert len(server.requests) == 2


async def test_without_an_answer_it_is_silent_until_the_next_day_and_keeps_the_last(
    server: VersionServer,
) -> None:
    await opened(server).look()
    set_day(server, "2026-11-20")
    server.send(b"down", head="503 Service Unavailable")
    found = await opened(server).look()
    assert found is not None and found.version == "9.1.0"
    await opened(server).look()
    assert len(server.requests) == 2
    # A network that is not there at all.
    nowhere = server.resources / "nowhere"
    nowhere.mkdir()
    (nowhere / "version_address.txt").write_text("https://127.0.0.1:1/version.json")
    assert await VersionFile(nowhere / "new_version.json", nowhere).look() is None
    assert json.loads((nowhere / "new_version.json").read_text()).keys() == {"day"}


async def test_what_is_no_newer_version_is_not_told(server: VersionServer) -> None:
    for version in (__version__, "0.0.9", "0.1.0"):
        server.tell(version=version)
        (server.resources / "new_version.json").unlink(missing_ok=True)
        assert await opened(server).look() is None, version
    # By numbers, not by letters.
    server.tell(version="0.10.0")
    set_day(server, "")
    found = await opened(server).look()
    assert found is not None and found.version == "0.10.0"
    # One that was taken back is told no longer.
    server.tell(version="0.1.0")
    set_day(server, "")
    assert await opened(server).look() is None


async def test_a_hostile_answer_counts_as_none(server: VersionServer) -> None:
    home = f"https://{server.host}"
    for changed in (
        {"version": "9" * 5_000}, {"version": "9.9"}, {"version": "99999.0.0"}, {"version": 9.1}, {"version": None},
        {"version": "9.1.0<b>"}, {"version": "９.1.0"}, {"version": "9.1.0\n"},
        {"date": "yesterday"}, {"date": "2026-13-01"}, {"date": 20261120}, {"date": ""},
        {"news": "text"}, {"news": {"en": "only"}}, {"news": {"en": "text", "ko": 7}}, {"news": {"en": "", "ko": ""}},
        {"news": {"en": "a" * 601, "ko": "b"}}, {"news": {"en": "a\n" * 9, "ko": "b"}},
        {"link": f"http://{server.host}/new"}, {"link": "https://elsewhere.example/new"}, {"link": "javascript:alert(1)"},
        {"link": f"https://{server.host}.example/new"}, {"link": f"https://{server.host}@elsewhere.example/"},
        {"link": home + "/new page"}, {"link": home + "/" + "a" * 600}, {"link": [home]}, {"link": "file:///etc/passwd"},
    ):  # fmt: skip
        server.tell(**changed)
        (server.resources / "new_version.json").unlink(missing_ok=True)
        assert await opened(server).look() is None, changed
        assert "found" not in json.loads((server.resources / "new_version.json").read_text()), changed
    for body in (b"", b"[]", b"{", b"\xff\xfe\x00", b"[" * 60_000, b'{"version": ' + b"9" * 50_000 + b"}"):
        server.send(body)
        set_day(server, "")
        assert await opened(server).look() is None, body[:20]


async def test_one_that_is_too_large_or_sends_elsewhere_counts_as_none(
    server: VersionServer, tmp_path: Path
) -> None:
    server.tell()
    body = server.answer.partition(b"\r\n\r\n")[2]
    server.send(body + b" " * (64_001 - len(body)))
    assert await opened(server).look() is None
    # Without an end, and longer than it says.
    server.answer = b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 1_000_000
    set_day(server, "")
    assert await opened(server).look() is None
    (tmp_path / "other").mkdir()
    with version_server(tmp_path / "other") as other:
        for status in (301, 302, 303, 307, 308):
            server.send(b"", head=f"{status} Moved\r\nLocation: {other.address}")
            set_day(server, "")
            assert await opened(server).look() is None, status
        server.send(b"", head="302 Found\r\nLocation: file:///etc/passwd")
        set_day(server, "")
        assert await opened(server).look() is None
        assert other.requests == []
    server.tell()
    body = server.answer.partition(b"\r\n\r\n")[2]
    server.send(body + b" " * (64_000 - len(body)))
    set_day(server, "")
    assert await opened(server).look() is not None


@pytest.mark.slow
async def test_a_slow_or_silent_server_is_left_after_ten_seconds(
    tmp_path: Path, server: VersionServer
) -> None:
    (tmp_path / "other").mkdir()
    with version_server(tmp_path / "other") as other:
        server.pause, other.silent = 0.1, True
        begun = time.monotonic()
        assert await asyncio.gather(opened(server).look(), opened(other).look()) == [None, None]
        assert 9 < time.monotonic() - begun < 40
        assert len(server.requests) == 1


async def test_a_server_without_a_trusted_certificate_is_not_believed(
    server: VersionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    assert await opened(server).look() is None
    assert server.requests == []


async def test_the_users_proxy_and_certificates_are_used(tmp_path: Path) -> None:
    with version_server(tmp_path) as server, LocalProxy(int(server.host.rpartition(":")[2])) as proxy:
        (tmp_path / "version_address.txt").write_text("https://models.example/version.json")
        server.host = "models.example"
        server.tell()
        await HostNetwork(tmp_path / "certificates.pem").use(proxy.address, str(server.authority))
        try:
            found = await opened(server).look()
        finally:
            use_variables({})
        assert found is not None and proxy.targets == ["models.example:443"]


async def test_no_address_means_that_nothing_is_asked(server: VersionServer) -> None:
    # A checkout names none.
    assert VersionFile(server.resources / "new_version.json", resources_dir()).address == ""
    for named in ("", f"http://{server.host}/version.json", "https://", "https://me:secret@h/x", "\xff"):
        (server.resources / "version_address.txt").write_bytes(named.encode("latin-1"))
        assert opened(server).address == ""
        assert await opened(server).look() is None
    assert server.requests == [] and not (server.resources / "new_version.json").exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"day": 1e400, "found": 7}', '{"found": {"version": "9.1.0"}}']
)
async def test_a_damaged_file_is_as_if_there_was_none(server: VersionServer, text: str) -> None:
    (server.resources / "new_version.json").write_text(text)
    found = await opened(server).look()
    assert found is not None and len(server.requests) == 1


async def test_a_full_disk_keeps_it_from_asking(server: VersionServer) -> None:
    versions = VersionFile(server.resources / "gone" / "new_version.json", server.resources)
    assert await versions.look() is None
    assert server.requests == []
