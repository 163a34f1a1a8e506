"""What a token costs on its way through the model host, against LiteLLM alone in one process.

Both read the same paced streams of the same local server; its own work is counted for neither.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import IO

from app.core.provider import ModelRequest, ProviderConfig, Text
from app.providers.processes import child_environment
from app.providers.remote import RemoteModels
from tests.benchmarks.table import Benchmark, Result
from tests.wire import Answer, Recorded, Reply, WireServer

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


async def _stream_through_host(models: RemoteModels, server: WireServer) -> tuple[float, float]:
    request = ModelRequest(
        provider="wire",
        model=server.model,
        messages=({"role": "user", "content": "Say something."},),
    )
    started = time.monotonic()
    first: list[float] = []

    async def one() -> None:
        heard = False
        async with aclosing(models.stream(request)) as deltas:
            async for delta in deltas:
                if not heard and isinstance(delta, Text):
                    heard = True
                    first.append(time.monotonic() - started)

    pid = models.host_pid
    assert pid is not None
    cpu, host = time.thread_time(), _cpu_of(pid)
    await asyncio.gather(*(one() for _ in range(STREAMS)))
    spent = time.thread_time() - cpu + _cpu_of(pid) - host
    return spent / (STREAMS * TOKENS), statistics.median(first)


@contextmanager
def _wire() -> Iterator[tuple[WireServer, RemoteModels]]:
    with WireServer("openai") as server:
        server.script(server.model, _answer)
        config = ProviderConfig(id="wire", kind="openai", base_url=server.address)
        yield server, RemoteModels(providers=lambda _: config, key=lambda _: server.key)


Rounds = list[tuple[tuple[float, float], tuple[float, float]]]


async def _compare(server: WireServer, models: RemoteModels, rounds: int) -> Rounds:
    alone = _Alone(server)
    found: Rounds = []
    try:
        await models.warm()
        await asyncio.to_thread(alone.run)
        await _stream_through_host(models, server)
        for _ in range(rounds):
            baseline = await asyncio.to_thread(alone.run)
            found.append((await _stream_through_host(models, server), baseline))
    finally:
        await models.close()
        alone.close()
    return found


def per_token(short: bool) -> Result:
    """Compare the CPU time a token takes."""
    with _wire() as (server, models):
        found = asyncio.run(_compare(server, models, 3 if short else 7))
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


BENCHMARKS = (
    Benchmark(
        name="engine and host per token, against LiteLLM alone in one process", target=1.2, run=per_token
    ),
)


if __name__ == "__main__":
    asyncio.run(_serve_alone(*sys.argv[1:4]))
