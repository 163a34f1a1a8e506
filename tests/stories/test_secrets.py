"""A canary key goes through every error of every protocol; then everything that was written is searched."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.wiring import open_moot
from tests.stories.processes import moot
from tests.wire import FAULTS, Fault, Reply, WireServer, write_providers

KINDS = ("openai", "anthropic", "gemini")
# These say nothing until a time limit is over, so there is nothing in them to leak.
SILENT = ("noheaders", "pingsonly", "stall", "stallping")
# The first is waited out for ten seconds, the second pauses the debate: once each is enough.
ONCE = {"anthropic": "rate429", "gemini": "quota429"}
NOISY = [fault for fault in FAULTS if fault not in (*SILENT, *ONCE.values())]


def canary(kind: str) -> str:
    return f"sk-canary-{kind}-7Qx0ZlV9pT3mKw8RbN2d"


@pytest.fixture
def servers(data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    servers = {kind: WireServer(kind, key=canary(kind)).start() for kind in KINDS}
    for name, value in write_providers(data_dir, servers.values()).items():
        monkeypatch.setenv(name, value)
    yield servers
    for server in servers.values():
        server.close()


def misbehave(server: WireServer) -> None:
    """Let the server's second model show each fault in turn."""
    # After an empty answer the turn asks once more.
    replies: list[Reply] = [*(Fault(name) for name in NOISY), "Here I am."]
    if server.kind in ONCE:
        replies.append(Fault(ONCE[server.kind]))
    server.script(server.models[1], replies)


@pytest.mark.threat("T1")
@pytest.mark.corpus(41)
def test_no_key_gets_out_by_any_error(servers: dict[str, WireServer], data_dir: Path) -> None:
    said: list[str] = []

    def run(*arguments: str, seconds: float = 60) -> str:
        done = moot(*arguments, seconds=seconds)
        said.extend((done.out, done.err))
        return done.out

    participants = []
    for number in range(2):
        for kind, server in servers.items():
            misbehave(server)
            # Between two that fail one that answers: two failures in a row pause a debate.
            for role, model in (("Bad", server.models[1]), ("Good", server.models[0])):
                participants += ["-p", f"{role}{number}-{kind}={kind}/{model}"]
    run("debate", "What is a secret?", *participants, "--rounds", "10", "--json", seconds=110)
    for kind, server in servers.items():
        seen = {request.reply.name for request in server.requests if isinstance(request.reply, Fault)}
        assert seen == {*NOISY, ONCE.get(kind, NOISY[0])}
        assert all(canary(kind) in json.dumps(request.headers) for request in server.requests)
    (session,) = json.loads(run("sessions", "--json"))
    run("show", session["id"])
    run("show", session["id"], "--json")
    for form in ("md", "html", "json"):
        run("export", session["id"], "--format", form)
    run("doctor")
    run("providers", "--json")

    assert sum(map(len, said)) > 10_000
    written = {str(path): path.read_bytes() for path in data_dir.rglob("*") if path.is_file()}
    assert any(name.endswith(".jsonl") for name in written)
    texts = {**written, **{f"output {place}": text.encode() for place, text in enumerate(said)}}
    hits = [
        (name, key)
        for name, content in texts.items()
        for key in map(canary, KINDS)
        if key.encode() in content or key[10:].encode() in content
    ]
    assert hits == []
    assert os.environ["MOOT_KEY_OPENAI"] == canary("openai")


@pytest.mark.threat("T2")
async def test_a_key_of_the_environment_goes_to_its_own_provider_only(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", canary("environment"))
    with WireServer("openai", key=canary("environment")) as server:
        write_providers(data_dir, [server])
        moot = await open_moot(data_dir)
        (status,) = [one for one in moot.engine.providers() if one.config.id == "openai"]
        found = await moot.engine.test_provider("openai")
        await moot.close()
        assert (status.ready, status.problem, found.ok) == (False, "no_key", False)
        assert not any(canary("environment") in json.dumps(one.headers) for one in server.requests)


@pytest.mark.threat("T2")
async def test_a_key_stays_with_the_server_it_was_given_for(data_dir: Path) -> None:
    moot = await open_moot(data_dir)
    (usual,) = [one.config for one in moot.engine.providers() if one.config.id == "openai"]

    def source() -> str:
        return next(one.key_source for one in moot.engine.providers() if one.config.id == "openai")

    with WireServer("openai", key=canary("other")) as server:
        other = replace(usual, base_url=server.address, models=server.models)
        await moot.engine.set_key("openai", canary("usual"))
        await moot.engine.save_provider(other)
        assert source() == ""
        assert not (await moot.engine.test_provider("openai")).ok
        await moot.engine.set_key("openai", canary("other"))
        assert (await moot.engine.test_provider("openai")).ok
        sent = json.dumps([one.headers for one in server.requests])
        assert canary("other") in sent and canary("usual") not in sent
        # The same host without encryption is another server too.
        await moot.engine.save_provider(replace(usual, base_url="http://api.openai.com/v1"))
        assert source() == ""
        await moot.engine.save_provider(replace(usual, base_url="https://API.openai.com"))
        assert source() == "session"
        await moot.engine.remove_key("openai")
        assert source() == ""
    await moot.close()
