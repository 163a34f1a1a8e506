"""What is meant for a private server does not go to a public one because `providers.json` is damaged."""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.exit_status import PAUSED_OR_STOPPED
from app.core.errors import ProviderError
from app.core.provider import ModelRequest
from app.wiring import open_moot
from tests.repeats import slow_after
from tests.stories.processes import here, moot
from tests.wire import Fault, WireServer, write_providers

SPEAKERS = ("-p", "Ada=openai/gpt-5-mini", "-p", "Ben=openai/gpt-5-mini")


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The way to every public server: a proxy that answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, address)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
        yield listening


def untouched(listening: socket.socket) -> bool:
    try:
        listening.accept()[0].close()
    except BlockingIOError:
        return True
    return False


def damage(data_dir: Path, how: str) -> str:
    """Write a damaged file; return where it says so."""
    path = data_dir / "providers.json"
    if how == "whole":
        path.write_text(path.read_text(encoding="utf-8") + "}", encoding="utf-8")
        return "providers.json:"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["providers"][0]["base_url"] = 7
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return "providers.json:7 providers[0].base_url"


@pytest.mark.parametrize("how", slow_after(1, [("whole",), ("entry",)]))
def test_nothing_is_sent(how: str, data_dir: Path, outside: socket.socket) -> None:
    with WireServer("openai") as private:
        write_providers(data_dir, [private])
        place = damage(data_dir, how)
        for command in (
            ("debate", "Cars?", *SPEAKERS),
            ("debate", "Cars?", *SPEAKERS[:2], "-p", "Ben=embedded/smollm2-135m"),
            ("ask", "assistant", "Hello"),
        ):
            refused = here(*command)
            assert refused.status == 2, (command, refused.out, refused.err)
            assert place in refused.err and "Traceback" not in refused.err
        assert here("sessions", "--json").json == []
        assert re.search("openai +OpenAI +entry can’t be read", here("providers", "--lang", "en").out)
        assert place in here("doctor").out
        assert private.requests == [] and untouched(outside)


def test_a_paused_debate_does_not_go_on_elsewhere(
    data_dir: Path, outside: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WireServer("openai", models=("gpt-5-mini",)) as private:
        for name, value in write_providers(data_dir, [private]).items():
            monkeypatch.setenv(name, value)
        private.script("gpt-5-mini", lambda _: Fault("quota429"))
        assert moot("debate", "Cars?", *SPEAKERS).status == PAUSED_OR_STOPPED
        [session] = here("sessions", "--json").json
        asked = len(private.requests)
        place = damage(data_dir, "entry")
        again = here("resume", session["id"])
        assert again.status == 2 and place in again.err
        assert asked and len(private.requests) == asked and untouched(outside)


@pytest.mark.parametrize("how", ["whole", "entry"])
async def test_no_call_of_any_kind_is_made(how: str, data_dir: Path, outside: socket.socket) -> None:
    with WireServer("openai") as private:
        write_providers(data_dir, [private])
        place = damage(data_dir, how)
        moot = await open_moot(data_dir)
        try:
            with pytest.raises(ProviderError) as raised:
                await anext(moot.models.stream(ModelRequest(provider="openai", model="m", messages=())))
            assert raised.value.kind == "provider_unreadable" and raised.value.detail.startswith(place)
            for result in (await moot.models.test("openai"), await moot.models.list_models("openai")):
                assert (result.ok, result.failure) == (False, "provider_unreadable")
                assert result.detail.startswith(place)
        finally:
            await moot.close()
        assert private.requests == [] and private.listings == 0 and untouched(outside)
