"""A canary key goes through every error of every protocol; then everything that was written is searched."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.core.definitions import Agent
from app.gui.transcript.transcript_view import TranscriptView
from app.storage.secrets import MARK
from app.wiring import open_moot
from tests.app_driver import at_window
from tests.repeats import slow_after
from tests.stories.processes import PROJECT, moot
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
def servers(request: pytest.FixtureRequest, data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    servers = {kind: WireServer(kind, key=canary(kind)).start() for kind in getattr(request, "param", KINDS)}
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
@pytest.mark.parametrize("servers", slow_after(1, [(("openai",),), (KINDS,)]), indirect=True)
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
    assert os.environ["OPENAI_API_KEY"] == canary("openai")


# It leads here as well, but is no name of this computer.
FOREIGN = "0.0.0.0"


@pytest.mark.threat("T2")
async def test_a_key_of_the_environment_goes_to_its_own_provider_only(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", canary("environment"))
    with WireServer("openai", key=canary("environment")) as server:
        write_providers(data_dir, [server])
        file = data_dir / "providers.json"
        file.write_text(file.read_text("utf-8").replace("127.0.0.1", FOREIGN), encoding="utf-8")
        moot = await open_moot(data_dir)
        (status,) = [one for one in moot.engine.providers() if one.config.id == "openai"]
        found = await moot.engine.test_provider("openai")
        await moot.close()
        assert (status.ready, status.problem, found.ok) == (False, "no_key", False)
        assert not any(canary("environment") in json.dumps(one.headers) for one in server.requests)


async def test_a_key_of_the_environment_is_for_this_computer_too(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", canary("environment"))
    with WireServer("openai", key=canary("environment")) as server:
        write_providers(data_dir, [server])
        moot = await open_moot(data_dir)
        found = await moot.engine.test_provider("openai")
        await moot.close()
        assert found.ok


@pytest.mark.threat("T2")
async def test_a_key_stays_with_the_server_it_was_given_for(data_dir: Path) -> None:
    moot = await open_moot(data_dir)
    (usual,) = [one.config for one in moot.engine.providers() if one.config.id == "openai"]

    def source() -> str:
        return next(one.key_source for one in moot.engine.providers() if one.config.id == "openai")

    with WireServer("openai", key=canary("other")) as server:
        other = replace(usual, base_url=server.address.replace("127.0.0.1", FOREIGN), models=server.models)
        await moot.engine.keys.set("openai", canary("usual"))
        await moot.engine.save_provider(other)
        assert source() == ""
        assert not (await moot.engine.test_provider("openai")).ok
        await moot.engine.keys.set("openai", canary("other"))
        assert (await moot.engine.test_provider("openai")).ok
        sent = json.dumps([one.headers for one in server.requests])
        assert canary("other") in sent and canary("usual") not in sent
        # The same host without encryption is another server too.
        await moot.engine.save_provider(replace(usual, base_url="http://api.openai.com/v1"))
        assert source() == ""
        await moot.engine.save_provider(replace(usual, base_url="https://API.openai.com"))
        assert source() == "session"
        await moot.engine.keys.remove("openai")
        assert source() == ""
    await moot.close()


@pytest.mark.threat("T1")
@pytest.mark.timeout(240)
async def test_no_key_is_shown_or_copied_at_the_window(
    qapp, data_dir: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    key = canary("openai")
    with WireServer("openai", key=key) as server:
        for name, value in write_providers(data_dir, [server]).items():
            monkeypatch.setenv(name, value)
        model = server.models[1]
        known = ["e401", "e403", "e404", "e500", "ctx", "badjson", "inerror", "html200"]
        server.script(model, [Fault(name) for name in known for _ in range(2)])
        async with at_window(data_dir) as person:
            engine = person.window.controller.engine
            await engine.assistants.save(Agent(id="ann", name="Ann", provider="openai", model=model))
            seen: list[str] = []
            for name in known:
                session_id = await engine.chats.start("ann", f"Show me {name}.")
                await engine.wait(session_id)
                person.window.controller.show_session(session_id)
                await person.settle(0.3)
                view = person.find("transcript", TranscriptView)
                seen += [view.describe(row) for row in list(view.message_ids)]
                view.setFocus()
                QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
                QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
                seen.append(QGuiApplication.clipboard().text())
            seen.append(repr(await engine.test_provider("openai")))
        assert server.requests
        assert all(key in json.dumps(request.headers) for request in server.requests)
    seen += capfd.readouterr()
    assert sum(map(len, seen)) > 500
    assert [text for text in seen if key in text or key[10:] in text] == []
    files = [path for path in data_dir.rglob("*") if path.is_file()]
    assert [path for path in files if key[10:].encode() in path.read_bytes()] == []


UNCAUGHT = """
import asyncio, logging, pathlib, sys, threading
from app.wiring import open_moot
key = sys.argv[2]
def fail():
    raise RuntimeError(f"thread {key}")
async def work():
    moot = await open_moot(pathlib.Path(sys.argv[1]))
    try:
        raise ValueError(f"log {key}")
    except ValueError:
        logging.getLogger("app.gui.tasks").exception("the task failed with %s", key)
    asyncio.get_running_loop().call_soon(lambda: 1 / 0 if not key else int(f"loop {key}"))
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    await asyncio.sleep(0.1)
    await moot.close()
asyncio.run(work())
raise RuntimeError(f"end {key}")
"""


@pytest.mark.threat("T1")
def test_no_key_gets_out_by_an_error_nobody_foresaw(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "Zq7-canary.0Aa1Bb2Cc3Dd4"  # of no shape that gives it away
    monkeypatch.setenv("MOOT_KEY_LAB", key)
    done = subprocess.run(
        [sys.executable, "-c", UNCAUGHT, str(data_dir), key],
        cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    kept = (data_dir / "logs" / "moot.log").read_text(encoding="utf-8")
    for place, text in (("thread", done.stderr), ("log", kept), ("loop", kept), ("end", done.stderr)):
        assert f"{place} {MARK}" in text, text
    assert "canary" not in done.stderr + done.stdout + kept
