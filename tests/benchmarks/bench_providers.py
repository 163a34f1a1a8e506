"""What a token costs on its way through host and engine to the disk, against LiteLLM alone in one process,
and what a call with tools takes through the host.

Both read the same paced streams of the same local server; its own work is counted for neither.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import aclosing
from pathlib import Path
from typing import IO

from app.children.processes import child_environment
from app.core.catalog import ProviderConfig
from app.core.council import Participant
from app.core.events import Event, MessageStarted, TurnStarted
from app.core.provider import CallPiece, ModelRequest
from app.core.session import Status
from app.engine.engine import DebateSetup
from app.providers.remote import RemoteModels
from app.wiring import Moot, open_moot
from tests.benchmarks import model_calls
from tests.benchmarks.table import Benchmark, Result
from tests.wire import Answer, Recorded, Reply, WireServer, write_providers

STREAMS = 2
TOKENS = 400
PACE = 0.005
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def _answer(_: Recorded) -> Reply:
    return Answer("".join(f"w{number} " for number in range(TOKENS)), pace=PACE)


class _Alone:
    """A process that does nothing but stream through LiteLLM, and says what that took."""

    def __init__(self, server: WireServer) -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.benchmarks.bench_providers",
                server.address,
                server.key,
                server.model,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=child_environment() | {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"},
        )

    def run(self) -> tuple[float, float]:
        """Return CPU seconds a token and seconds to the first token, of one round of streams."""
        stdin, stdout = self._pipes()
        stdin.write("go\n")
        stdin.flush()
        cpu, first = json.loads(stdout.readline())
        return cpu, first

    def close(self) -> None:
        """End the process."""
        self._pipes()[0].close()
        self._process.wait(10)
        self._pipes()[1].close()

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self._process.stdin is not None and self._process.stdout is not None
        return self._process.stdin, self._process.stdout


async def _stream_alone(address: str, key: str, model: str) -> tuple[float, float]:
    import litellm

    started = time.monotonic()
    first: list[float] = []

    async def one() -> None:
        stream = await litellm.acompletion(
            model=f"openai/{model}",
            api_base=address,
            api_key=key,
            messages=[{"role": "user", "content": "Say something."}],
            stream=True,
            stream_options={"include_usage": True},
            max_retries=0,
            num_retries=0,
        )
        heard = False
        async for chunk in stream:
            if not heard and chunk.choices and chunk.choices[0].delta.content:
                heard = True
                first.append(time.monotonic() - started)

    cpu = time.process_time()
    await asyncio.gather(*(one() for _ in range(STREAMS)))
    return (time.process_time() - cpu) / (STREAMS * TOKENS), statistics.median(first)


async def _serve_alone(address: str, key: str, model: str) -> None:
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await _stream_alone(address, key, model)), flush=True)


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def _debate(moot: Moot, server: WireServer) -> tuple[float, float]:
    """Return the same of as many debates at once: window-less program and host together."""
    begun: dict[str, float] = {}
    first: list[float] = []

    def listen(events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, TurnStarted):
                begun[event.turn_id] = time.monotonic()
            elif isinstance(event, MessageStarted):
                first.append(time.monotonic() - begun[event.message.turn_id])

    seats = tuple(
        Participant(id=name, name=name, provider=server.provider_id, model=server.model)
        for name in ("GPT", "Claude")
    )
    pid = moot.models.host_pid
    assert pid is not None
    forget = moot.engine.bus.subscribe(listen)
    cpu, host = time.thread_time(), _cpu_of(pid)
    setup = DebateSetup(topic="Tabs or spaces?", participants=seats, rounds=1)
    started = [await moot.engine.debates.start(setup) for _ in range(STREAMS)]
    ended = [await moot.engine.wait(session_id) for session_id in started]
    spent = time.thread_time() - cpu + _cpu_of(pid) - host
    forget()
    assert all(session.status == Status.COMPLETED for session in ended)
    return spent / (STREAMS * len(seats) * TOKENS), statistics.median(first)


Rounds = list[tuple[tuple[float, float], tuple[float, float]]]


async def _compare(server: WireServer, folder: Path, rounds: int) -> Rounds:
    alone = _Alone(server)
    moot = await open_moot(folder)
    found: Rounds = []
    try:
        await moot.models.warm()
        await asyncio.to_thread(alone.run)
        await _debate(moot, server)
        for _ in range(rounds):
            baseline = await asyncio.to_thread(alone.run)
            found.append((await _debate(moot, server), baseline))
    finally:
        await moot.close()
        alone.close()
    return found


def per_token(short: bool) -> Result:
    """Compare the CPU time a token takes."""
    with WireServer("openai") as server, tempfile.TemporaryDirectory(prefix="moot-tokens-") as folder:
        server.script(server.model, _answer)
        os.environ.update(write_providers(Path(folder), [server]))
        found = asyncio.run(_compare(server, Path(folder), 3 if short else 7))
    ours = statistics.median(ours[0] for ours, _ in found) * 1e6
    alone = statistics.median(alone[0] for _, alone in found) * 1e6
    first, first_alone = (statistics.median(pair[at][1] for pair in found) * 1e3 for at in (0, 1))
    return Result(
        measured=ours,
        baseline=alone,
        unit="µs",
        ratio=statistics.median(ours[0] / alone[0] for ours, alone in found),
        extra=f"first token {first:.0f} ms, alone {first_alone:.0f} ms",
    )


def per_call(short: bool) -> Result:
    """Compare the time a call with ten tools takes through the host."""
    with WireServer("openai") as server, tempfile.TemporaryDirectory(prefix="moot-calls-") as folder:
        server.script(server.model, model_calls.answer)
        return asyncio.run(_compare_calls(server, Path(folder), 5 if short else 60))


async def _compare_calls(server: WireServer, folder: Path, rounds: int) -> Result:
    config = ProviderConfig(id=server.provider_id, kind=server.kind, base_url=server.address)
    models = RemoteModels(providers=lambda _: config, key=lambda _: server.key, log_dir=folder)
    request = ModelRequest(
        provider=config.id,
        model=server.model,
        messages=model_calls.MESSAGES,
        tools=model_calls.TOOLS,
        max_tokens=200,
    )

    async def once() -> None:
        called = ""
        async with aclosing(models.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, CallPiece):
                    called += delta.arguments
        assert called == model_calls.CALL.arguments

    try:
        await models.warm()
        return await model_calls.compare_calls(server, once, rounds)
    finally:
        await models.close()


BENCHMARKS = (
    Benchmark(
        name="engine and host per token, against LiteLLM alone in one process",
        target=1.15,
        run=per_token,
    ),
    Benchmark(
        name="model call with 10 tools through the host, against LiteLLM alone in one process",
        target=1.1,
        run=per_call,
    ),
)


if __name__ == "__main__":
    asyncio.run(_serve_alone(*sys.argv[1:4]))
