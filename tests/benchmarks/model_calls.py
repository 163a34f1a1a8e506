"""A model call with ten tools, timed through whatever makes it and through LiteLLM alone in a process.

bench_providers uses it for the host, the benchmark of the loop for the whole engine.
`python -m tests.benchmarks.model_calls ADDRESS KEY MODEL` is the process that stands alone.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import IO, Any

from app.children.processes import child_environment
from tests.benchmarks.table import Result
from tests.wire import Answer, Recorded, Reply, WireCall, WireServer

TOOLS: tuple[dict[str, Any], ...] = tuple(
    {
        "type": "function",
        "function": {
            "name": f"tool_{number}",
            "description": "Looks something up and says what it found, with the addresses it found it at. "
            * 3,
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to look for."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                    "kinds": {"type": "array", "items": {"enum": ["page", "image", "news"]}},
                },
                "required": ["query"],
            },
        },
    }
    for number in range(10)
)
MESSAGES: tuple[dict[str, Any], ...] = (
    {"role": "system", "content": "You look things up before you answer. " * 20},
    {"role": "user", "content": "What is new about the sea?"},
)
CALL = WireCall("tool_3", json.dumps({"query": "what is new about the deep sea", "limit": 5}))
# Long enough for the tokens to count, short enough to be one step of a loop.
WORDS = "I look for it, as you asked, in the news of the last days and weeks. " * 3
_CALLS_AT_ONCE = 5


def answer(_: Recorded) -> Reply:
    """Answer with some words and a call, each piece at once."""
    return Answer(WORDS, calls=(CALL,))


async def compare_calls(
    server: WireServer, ours: Callable[[], Awaitable[None]], rounds: int, calls_each: int = 1
) -> Result:
    """Compare the seconds of a call: `ours` makes `calls_each` of them, one after the other.

    Both take turns, so that a busy machine slows both alike. The server answers at once.
    """
    alone = _Alone(server)
    found: list[tuple[float, float]] = []
    try:
        await asyncio.to_thread(alone.run)
        await ours()
        for _ in range(rounds):
            baseline = await asyncio.to_thread(alone.run)
            started = time.perf_counter()
            for _ in range(_CALLS_AT_ONCE):
                await ours()
            found.append(((time.perf_counter() - started) / _CALLS_AT_ONCE / calls_each, baseline))
    finally:
        alone.close()
    return Result(
        measured=statistics.median(ours for ours, _ in found) * 1e3,
        baseline=statistics.median(alone for _, alone in found) * 1e3,
        unit="ms",
        ratio=statistics.median(ours / alone for ours, alone in found),
    )


class _Alone:
    """A process that does nothing but make the same calls through LiteLLM, and says what one took."""

    def __init__(self, server: WireServer) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.model_calls", server.address, server.key, server.model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=child_environment() | {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"},
        )

    def run(self) -> float:
        """Return the seconds of a call, of a few calls one after the other."""
        stdin, stdout = self._pipes()
        stdin.write("go\n")
        stdin.flush()
        return float(json.loads(stdout.readline()))

    def close(self) -> None:
        """End the process."""
        stdin, stdout = self._pipes()
        stdin.close()
        self._process.wait(10)
        stdout.close()

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self._process.stdin is not None and self._process.stdout is not None
        return self._process.stdin, self._process.stdout


async def _call_alone(address: str, key: str, model: str) -> None:
    import litellm

    stream = await litellm.acompletion(
        model=f"openai/{model}",
        api_base=address,
        api_key=key,
        messages=[*MESSAGES],
        tools=[*TOOLS],
        max_tokens=200,
        stream=True,
        stream_options={"include_usage": True},
        max_retries=0,
        num_retries=0,
    )
    called = ""
    async for chunk in stream:
        for call in (chunk.choices[0].delta.tool_calls or ()) if chunk.choices else ():
            called += call.function.arguments or ""
    assert called == CALL.arguments


async def _serve_alone(address: str, key: str, model: str) -> None:
    await _call_alone(address, key, model)
    while await asyncio.to_thread(sys.stdin.readline):
        started = time.perf_counter()
        for _ in range(_CALLS_AT_ONCE):
            await _call_alone(address, key, model)
        print(json.dumps((time.perf_counter() - started) / _CALLS_AT_ONCE), flush=True)


if __name__ == "__main__":
    asyncio.run(_serve_alone(*sys.argv[1:4]))
