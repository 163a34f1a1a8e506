"""The life of the model host: it starts, dies, is started anew, and never outlives its parent."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from app.children.processes import MODEL_HOST, child_command, child_environment
from app.core.errors import ProviderError
from app.core.provider import Text
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import Answer, Fault, WireServer

KEY = "sk-canary-host-0123456789abcdef"


@pytest.mark.usefixtures("qapp")
async def test_a_killed_host_is_replaced_and_its_answers_are_cut(server: WireServer, tmp_path: Path) -> None:
    """On the window's own loop, the harder of the two."""
    server.script(server.model, [Fault("stallping", text="Heard this"), "Whole.", Fault("noheaders")])
    models = Book({"openai": server}).models(tmp_path)
    heard = ""
    first = None
    with pytest.raises(ProviderError) as raised:
        async with aclosing(models.stream(request_to(server))) as deltas:
            async for delta in deltas:
                assert isinstance(delta, Text)
                heard += delta.text
                if heard == "Heard this":
                    first = models.host_pid
                    assert first is not None
                    os.kill(first, signal.SIGKILL)
    assert raised.value.kind == "interrupted"

    assert (await ask(models, request_to(server))).text == "Whole."

    # Before the first word it is no cut answer but a failure of the host.
    asking = asyncio.create_task(ask(models, request_to(server)))
    assert await asyncio.to_thread(server.wait_for, lambda: len(server.requests) == 3, 60.0)
    second = models.host_pid
    assert second is not None and second != first
    os.kill(second, signal.SIGKILL)
    assert (await asking).outcome == "host"

    await models.close()
    assert models.host_pid is None
    assert not [pid for pid in (first, second) if pid is None or _runs(pid)]
    log = await asyncio.to_thread((tmp_path / "model_host.log").read_text, encoding="utf-8")
    assert "ended with -9" in log


async def test_nothing_is_started_once_closed() -> None:
    with WireServer("openai") as server:
        models = Book({"openai": server}).models()
        await models.close()
        assert (await ask(models, request_to(server))).outcome == "host"
        assert server.requests == []


@pytest.mark.slow
def test_a_host_by_hand() -> None:
    """Speaks the protocol over plain pipes: only JSON lines come out, and the end of input ends it."""
    environment = child_environment() | {
        # What a user's environment may hold must reach neither a server nor a library.
        "OPENAI_API_KEY": "sk-canary-environment-000",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "LITELLM_LOG": "DEBUG",
    }
    with (
        WireServer("ollama") as server,
        subprocess.Popen(
            child_command(MODEL_HOST),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        ) as host,
    ):
        assert host.stdin and host.stdout and host.stderr
        server.script(server.model, [Answer("Good."), Fault("e401")])
        limits = {"connect": 5, "first_token": 20, "idle": 20, "total": 60}
        request = {
            "id": "a",
            "op": "stream",
            "kind": "ollama",
            "base_url": server.address,
            "key": "",
            "model": server.model,
            "messages": [{"role": "user", "content": "Hi"}],
            "limits": limits,
        }
        second = request | {"id": "b", "key": KEY, "messages": [{"role": "user", "content": "Hello"}]}
        incomplete = {"id": "c", "op": "stream", "key": KEY}
        asked = (request, second, incomplete)
        host.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in asked))
        host.stdin.flush()
        lines: list[dict[str, object]] = []
        while {line.get("id") for line in lines if {"finished", "error"} & line.keys()} < {"a", "b", "c"}:
            lines.append(json.loads(host.stdout.readline()))
        # Both are sent at once, and either may arrive first.
        keys = {each.messages[-1].text: each.headers["authorization"] for each in server.requests}
        assert keys == {"Hi": "Bearer no-key", "Hello": f"Bearer {KEY}"}
        host.stdin.close()
        started = time.monotonic()
        rest = host.stdout.read() + host.stderr.read()
        assert host.wait(10) == 0
        assert time.monotonic() - started < 3
    assert "".join(line.get("text", "") for line in lines) == "Good."
    told = json.dumps(lines) + rest.decode()
    assert KEY not in told and "canary" not in told


@pytest.mark.threat("T13")
def test_a_host_whose_parent_is_killed_ends(tmp_path: Path) -> None:
    parent = (
        "import asyncio, sys\n"
        "from app.providers.remote import RemoteModels\n"
        "async def main():\n"
        "    models = RemoteModels(providers=lambda _: None, key=lambda _: None)\n"
        "    await models.warm()\n"
        "    print(models.host_pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdout=subprocess.PIPE, env=child_environment()
    ) as process:
        assert process.stdout
        host = int(process.stdout.readline())
        assert _runs(host)
        process.kill()
    deadline = time.monotonic() + 5
    while _runs(host) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(host)


@pytest.mark.threat("T13")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere it ends once it reads its input")
def test_a_host_that_still_imports_ends_with_its_parent() -> None:
    parent = (
        "import subprocess, time\n"
        "from app.children.processes import MODEL_HOST, child_command, child_environment\n"
        "host = subprocess.Popen(child_command(MODEL_HOST), stdin=subprocess.PIPE, env=child_environment())\n"
        "print(host.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    for seconds in (0.0, 0.3, 1.0):
        with subprocess.Popen(
            [sys.executable, "-c", parent], stdout=subprocess.PIPE, env=child_environment()
        ) as process:
            assert process.stdout
            host = int(process.stdout.readline())
            time.sleep(seconds)
            assert _runs(host)
            process.kill()
        deadline = time.monotonic() + 2
        while _runs(host) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not _runs(host)


@pytest.mark.own_host
async def test_closing_does_not_wait_for_a_host_that_still_imports(tmp_path: Path) -> None:
    models = Book().models(tmp_path)
    await models.start()
    host = models.host_pid
    started = time.monotonic()
    await models.close()
    assert time.monotonic() - started < 1
    assert host is not None and not _runs(host)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
