"""`moot mcp` in programs of others, configured by the lines of the README; each is skipped where it is not there.

`npm install --prefix FOLDER opencode-ai @openai/codex @google/gemini-cli`, and MCP_TEST_SERVERS names the folder `FOLDER/node_modules/.bin`.
Their model is a wire server, which tells them to call Moot's tools; Moot's own models are those of another.
"""

import asyncio
import json
import os
import re
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.storage.access import WriterLock
from app.storage.paths import DataPaths
from tests.mcp_caller import PROJECT, TWO, end_owner, numbered
from tests.tools.test_mcp_third_party import command
from tests.wire.providers_file import write_providers
from tests.wire.replies import Answer, Reply, WireCall
from tests.wire.server import Recorded, WireServer

_SAID = "Think of the children."
_MODEL = "gemini-2.5-flash"
# So that a debate of four statements is longer than a call.
_STATEMENT_S = 13.0
_RUN_S = 200


def line_for(name: str) -> str:
    """Return the README's line for a program, with the path of this checkout's `moot`."""
    [line] = re.findall(rf"^(.*\S) +# {name}\b.*$", (PROJECT / "README.md").read_text("utf-8"), re.MULTILINE)
    return line.replace("/path/to/moot", str(Path(sys.executable).with_name("moot")))


class Mind:
    """What a program's model wants: to list, to hold a debate, to say something, and to wait for the end."""

    def __init__(self, server: WireServer) -> None:
        self.results: list[str] = []
        self.offered: list[str] = []
        for model in server.models:
            server.script(model, self.answer)

    def answer(self, request: Recorded) -> Reply:
        offered = {one.rpartition("_")[2]: one for one in request.tools if "moot" in one}
        if "debate" not in offered:
            # Codex begins before its servers have started; the others ask for a title besides.
            pauses = "exec_command" in request.tools
            return Answer(calls=(_call("exec_command", cmd="sleep 5"),)) if pauses else "A title"
        self.offered = sorted(offered)
        made = [call for one in request.messages for call in one.calls if _of_moot(call.name)]
        results = [one.text for one in request.messages if one.role == "tool"][-len(made) :] if made else []
        self.results = results
        found = re.findall(r"session_id\W+([0-9a-z]{20,})", "\n".join(results))
        steps: list[tuple[str, dict[str, Any]]] = [
            ("list", {}),
            ("debate", {"topic": "Tea or coffee?", "participants": TWO, "rounds": 2}),
            ("say", {"session_id": "", "text": _SAID}),
            ("wait", {"session_id": ""}),
            ("wait", {"session_id": ""}),
            ("list", {"what": "sessions"}),
        ]
        if len(made) >= len(steps):
            return "The debate is over."
        tool, arguments = steps[len(made)]
        if "session_id" in arguments:
            arguments["session_id"] = found[-1]
        return Answer(calls=(_call(offered[tool], **arguments),))


def _call(name: str, **arguments: Any) -> WireCall:
    return WireCall(name, json.dumps(arguments))


def _of_moot(name: str) -> bool:
    return name.rpartition("_")[2] in ("list", "debate", "say", "wait")


def opencode(work: Path, mind: WireServer) -> tuple[list[str], dict[str, str]]:
    program = command("opencode")
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": mind.address, "apiKey": mind.key},
        "models": {_MODEL: {"tool_call": True}},
    }
    settings = json.loads("{" + line_for("opencode") + "}")
    settings |= {"provider": {"wire": provider}, "small_model": f"wire/{_MODEL}"}
    (work / "opencode.json").write_text(json.dumps(settings), "utf-8")
    return [program, "run", "--auto", "-m", f"wire/{_MODEL}", "Hold a debate."], {}


def codex(work: Path, mind: WireServer) -> tuple[list[str], dict[str, str]]:
    program = command("codex")
    (work.parent / ".codex").mkdir()
    (work.parent / ".codex" / "config.toml").write_text(
        f'model = "{_MODEL}"\nmodel_provider = "wire"\n[model_providers.wire]\nname = "wire"\n'
        f'base_url = "{mind.address}"\nenv_key = "WIRE_KEY"\nwire_api = "responses"\n'
    )
    allowed = 'mcp_servers.moot.default_tools_approval_mode="approve"'
    words = [program, "exec", "--skip-git-repo-check", "-c", allowed, "Hold a debate."]
    return words, {"WIRE_KEY": mind.key}


def gemini(work: Path, mind: WireServer) -> tuple[list[str], dict[str, str]]:
    program = command("gemini")
    (work.parent / ".gemini").mkdir()
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (work.parent / ".gemini" / "settings.json").write_text(json.dumps(settings), "utf-8")
    return [program, "-m", _MODEL, "--yolo", "-p", "Hold a debate."], {
        "GOOGLE_GEMINI_BASE_URL": mind.address.removesuffix("/v1beta"),
        "GEMINI_API_KEY": mind.key,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


# The program, what speaks its model's protocol, its name in the README, and the name that it gives itself.
PROGRAMS = {
    "opencode": (opencode, "openai", "", "opencode"),
    "codex": (codex, "responses", "Codex", "Codex"),
    "gemini": (gemini, "gemini", "Gemini CLI", "gemini-cli-mcp-client"),
}


async def run(words: list[str], work: Path, environment: dict[str, str]) -> str:
    """Run a program to its end, for so long at most; return what it wrote."""
    log = work.parent / "out.txt"
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=work,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            await asyncio.wait_for(process.wait(), _RUN_S)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return log.read_text("utf-8", "replace")


@pytest.fixture
def models() -> Iterator[WireServer]:
    with WireServer("ollama") as server:
        numbered(server, delay=_STATEMENT_S)
        yield server


@pytest.fixture
async def home(tmp_path: Path, models: WireServer) -> AsyncIterator[Path]:
    """A home directory with Moot's data where a program that passes no other variable on finds it."""
    home = tmp_path / "host"
    data = home / ".local" / "share" / "Moot"
    write_providers(data, [models])
    yield home
    await end_owner(data)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_holds_a_debate_and_steps_in(home: Path, models: WireServer, name: str) -> None:
    start, kind, in_readme, calls_itself = PROGRAMS[name]
    work = home / "work"
    work.mkdir()
    environment = {one: os.environ[one] for one in ("PATH", "LANG", "TMPDIR") if one in os.environ}
    environment |= {"HOME": str(home), "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    with WireServer(kind, models=(_MODEL, "gemini-2.5-flash-lite")) as mind:
        wants = Mind(mind)
        words, more = start(work, mind)
        environment |= more
        if in_readme:
            added = shlex.split(line_for(in_readme))
            await run([command(added[0]), *added[1:]], work, environment)
        out = await run(words, work, environment)
        assert not [one.refused for one in mind.requests if one.refused], out
    assert wants.offered == ["ask", "council", "debate", "list", "say", "wait"], out
    everything, begun, said, *waited, sessions = wants.results
    assert TWO[0][4:] in everything and "running" in begun and "running" in said
    assert "completed" in waited[-1] and "completed" in sessions
    told = begun + said + "".join(waited)
    # Each statement once, and what the program said itself not at all.
    assert [told.count(f"Point {number} of") for number in range(1, 5)] == [1, 1, 1, 1]
    assert _SAID not in told
    asked = str([one.body for one in models.requests])
    assert f"[{calls_itself} (through MCP)]: {_SAID}" in asked
    # Some programs end what their servers have started; a Moot without a window outlives them.
    assert WriterLock(DataPaths(home / ".local" / "share" / "Moot")).is_held()
