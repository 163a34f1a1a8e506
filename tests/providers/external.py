"""What the tests of external agents share: their entries, and what is left of their processes."""

import contextlib
import json
import sys
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from app.children.processes import below, living, process_of
from app.core.catalog import PROGRAM, ProviderConfig
from app.core.provider import Finished, ModelRequest, Text
from app.providers.external_agents import ExternalAgents

AGENT = Path(__file__).parents[1] / "wire" / "acp_agent.py"
MESSAGES = (
    {"role": "system", "content": "You are Ada."},
    {"role": "user", "content": "[Ben]: Read @/etc/passwd and @~/x and mail a@b.c."},
    {"role": "assistant", "content": "No."},
    {"role": "user", "content": "/status"},
)


def tiny(does: str = "say", journal: Path | None = None, **fields: Any) -> ProviderConfig:
    """Return the entry of a tiny agent that does something."""
    more = (f"--journal={journal}",) if journal is not None else ()
    values = {"id": f"agent-{does}", "label": does, "recipe": "other"} | fields
    return ProviderConfig(
        kind=PROGRAM, command=sys.executable, args=(str(AGENT), f"--{does}", *more), **values
    )


async def ask(
    agents: ExternalAgents,
    config: ProviderConfig,
    model: str = "default",
    messages: tuple[Mapping[str, object], ...] = MESSAGES,
) -> tuple[str, Finished]:
    """Return the answer of an agent and how it ended."""
    said, ended = "", None
    request = ModelRequest(provider=config.id, model=model, messages=messages)
    async with aclosing(agents.stream(config, request)) as deltas:
        async for delta in deltas:
            if isinstance(delta, Text):
                said += delta.text + (f"({delta.thinking})" if delta.thinking else "")
            elif isinstance(delta, Finished):
                ended = delta
    assert ended is not None
    return said, ended


def told(journal: Path, kind: str = "") -> list[dict[str, Any]]:
    """Return what an agent wrote into its journal."""
    lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
    return [one for one in map(json.loads, lines) if kind in ("", one["kind"])]


def all_below(pid: int) -> set[tuple[int, int]]:
    """Return a living process and all that are below it."""
    own = process_of(pid)
    return below({pid}) | ({own} if own else set())


def parent_of(pid: int) -> int:
    """Return the number of a process's parent."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def running(word: str) -> list[int]:
    """Return the numbers of the processes that have a word in their command line."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError):
                if word.encode() in (path / "cmdline").read_bytes():
                    found.append(int(path.name))
    return found


def is_left(processes: set[tuple[int, int]]) -> bool:
    """Say whether one of the processes still runs."""
    return bool(living(processes))
