"""The memory of a model on this computer: what is expected of it before it is loaded, against what it takes."""

import asyncio
from pathlib import Path

import httpx
import psutil

from app.providers.embedded_server import ServerSpec
from app.providers.endpoints import LOCAL
from app.providers.local_models import read_header
from app.providers.model_file import find_model
from app.providers.model_host.host import LlamaServers
from app.providers.model_host.request import ModelCall
from tests.benchmarks.table import Benchmark, Result

MB = 1_000_000
# Of what it takes; less would load models that do not fit.
LEAST = 0.95


def memory(n_ctx: int) -> Result:
    """Compare the estimate with the memory of a server that has answered."""
    return asyncio.run(_memory(n_ctx))


async def _memory(n_ctx: int) -> Result:
    file = find_model()
    assert file is not None
    estimate = read_header(Path(file)).memory(n_ctx)
    servers = LlamaServers(lambda: 1 << 40)
    spec = ServerSpec(model="small", file=str(file), n_ctx=n_ctx, slots=2, memory=estimate)
    call = ModelCall(
        id="1", kind="local", base_url="", key="", model="small", messages=[], limits=LOCAL, server=spec
    )
    async with servers.serving(call) as served:
        async with httpx.AsyncClient(trust_env=False, timeout=300) as client:
            await client.post(
                f"{served.base_url}/completions",
                headers={"authorization": f"Bearer {served.key}"},
                json={"prompt": "word " * 300, "max_tokens": 8},
            )
        [child] = [one for one in psutil.Process().children() if "embedded_server" in " ".join(one.cmdline())]
        taken = child.memory_info().rss
    await servers.close()
    assert estimate >= LEAST * taken, f"expected {estimate / MB:.0f} MB, taken {taken / MB:.0f} MB"
    return Result(measured=estimate / MB, baseline=taken / MB, unit="MB", ratio=estimate / taken)


BENCHMARKS = [
    Benchmark(
        name=f"memory expected of SmolLM2 with a context of {n_ctx:,}, against what it takes (least {LEAST})",
        target=1.25,
        run=lambda short, n_ctx=n_ctx: memory(n_ctx),
    )
    for n_ctx in (2_048, 4_096, 8_192)
]
