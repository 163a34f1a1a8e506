"""Serves the requests of Moot: turns and tests of external agents, whose programs it starts, shares and ends."""

import asyncio
import contextlib
import json
import os
import sys
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app import __version__
from app.children import process_tree
from app.children.pipes import HostServer, Pipes
from app.children.private_files import replace_text
from app.core.errors import FailureKind, ProviderError
from app.core.owned_tasks import start_owned
from app.providers.agent_host.program import AgentProgram
from app.providers.agent_host.session import AgentSession

_START_SECONDS = 60.0
_LOOK_SECONDS = 0.25
_STARTS = 3
_STARTS_SECONDS = 60.0


class AgentHost(HostServer):
    """Runs one program for each provider entry; a turn is a session of it."""

    def __init__(self, pipes: Pipes) -> None:
        super().__init__(pipes)
        self._programs: dict[str, AgentProgram] = {}
        self._used: dict[str, float] = {}
        self._busy: dict[str, int] = defaultdict(int)
        self._started: dict[str, deque[float]] = defaultdict(deque)
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._record = Path()
        self._unused_seconds = 0.0
        self._recorded: list[list[int]] = []
        self._looking: asyncio.Task[None] | None = None
        self._parent = os.getppid()
        # The programs that ran when the last look was taken, or were started since.
        self._ran: set[AgentProgram] = set()
        # One that is being started is no stray.
        self._starting = asyncio.Lock()
        self._leaving: set[asyncio.Task[None]] = set()
        # The turns under way, by the id of their requests.
        self._turns: dict[str, AgentSession] = {}

    async def _do(self, line: dict[str, Any]) -> dict[str, Any]:
        if line["op"] == "answer":
            if (turn := self._turns.get(line["turn"])) is not None:
                turn.answer(line["ask"], line["answer"])
            return {}
        key = line["key"]
        self._busy[key] += 1
        try:
            return await self._turn(line)
        except ProviderError as error:
            return {"error": {"kind": error.kind, "detail": error.detail}}
        except Exception as error:
            sys.stderr.write(f"{type(error).__name__}: {str(error)[:300]}\n")
            return {"error": {"kind": FailureKind.BAD_RESPONSE, "detail": type(error).__name__}}
        finally:
            self._busy[key] -= 1
            self._used[key] = asyncio.get_running_loop().time()

    async def _turn(self, line: dict[str, Any]) -> dict[str, object]:
        program = await self._running(line)
        session = AgentSession(program, line, lambda piece: self._pipes.write({"id": line["id"], **piece}))
        self._turns[line["id"]] = session
        try:
            await session.open()
            if line["op"] == "test":
                return {"tested": {"model": session.model, "models": list(session.models)}}
            return {"finished": await session.speak()}
        finally:
            del self._turns[line["id"]]
            # Also after a cancel, in which nothing more may be awaited.
            start_owned(session.close(), among=self._leaving)

    async def _running(self, line: dict[str, Any]) -> AgentProgram:
        """Return the program of an entry, started where it does not run. Raises ProviderError."""
        key = line["key"]
        async with self._locks[key]:
            program = self._programs.get(key)
            if program is not None and program.alive:
                return program
            if program is not None:
                await program.end()
            now, starts = asyncio.get_running_loop().time(), self._started[key]
            while starts and starts[0] < now - _STARTS_SECONDS:
                starts.popleft()
            if len(starts) >= _STARTS:
                raise ProviderError(FailureKind.AGENT_MISSING, f"ended {_STARTS} times within a minute")
            starts.append(now)
            async with self._starting:
                program = await AgentProgram.start(line)
                self._programs[key] = program
                self._ran.add(program)
            self._record, self._unused_seconds = Path(line["record"]), line["unused_seconds"]
            await self._look()
            if self._looking is None or self._looking.done():
                self._looking = start_owned(self._keep_looking())
            capabilities = {
                "fs": {"readTextFile": False, "writeTextFile": False},
                "terminal": False,
                "session": {"notices": {}},
            }
            client = {"name": "moot", "title": "Moot", "version": __version__}
            try:
                program.told = await program.ask(
                    "initialize",
                    {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": client},
                    _START_SECONDS,
                )
            except BaseException:
                start_owned(program.end(), among=self._leaving)
                raise
            self._pipes.write({"provider": line["provider"], "images": program.takes_images})
            return program

    async def _keep_looking(self) -> None:
        """Record what the programs start, and end those that nobody has used for a while."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if os.getppid() != self._parent:
                # Moot, or the process that watches this one, was killed.
                await self._end_all()
                os._exit(1)
            await self._look()
            now = asyncio.get_running_loop().time()
            for key, program in list(self._programs.items()):
                idle = not self._busy[key] and now - self._used.get(key, now) > self._unused_seconds
                if idle or (program.gone.is_set() and program.known):
                    await program.end()
                if idle:
                    del self._programs[key]
            running = {one for one in self._programs.values() if one.alive}
            ended, self._ran = self._ran - running, running
            if ended:
                async with self._starting:
                    await asyncio.to_thread(self._end_strays, tuple(self._programs.values()))

    async def _look(self) -> None:
        programs = list(self._programs.values())

        def look() -> list[list[int]]:
            for program in programs:
                program.look()
            process_tree.reap_orphans({one.pid for one in programs})
            return sorted([pid, start] for one in programs for pid, start in one.known)

        found = await asyncio.to_thread(look)
        if found != self._recorded:
            self._recorded = found
            self._pipes.write({"processes": found})
            await asyncio.to_thread(write_record, self._record, found)

    def _end_strays(self, programs: Sequence[AgentProgram]) -> None:
        """End what an ended program had started just before, so that no look has found it: its orphans came to this process."""
        own = {one.pid for one in programs}
        known = {pid for one in programs if one.alive for pid, _ in one.known}
        strays = {(pid, start) for pid, start in process_tree.children(os.getpid()) if pid not in own | known}
        process_tree.end_processes(strays)

    async def _close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await self._end_all()

    async def _end_all(self) -> None:
        # The tasks of the turns were cancelled, but the programs end before they could answer.
        await asyncio.gather(*(one.end() for one in self._programs.values()), return_exceptions=True)
        await asyncio.to_thread(process_tree.end_processes, (), os.getpid())
        if self._recorded:
            await asyncio.to_thread(write_record, self._record, [])


def write_record(path: Path, processes: list[list[int]]) -> None:
    """Write which processes must be ended where this one could not do it; an empty list removes the file."""
    with contextlib.suppress(OSError):
        if not processes:
            path.unlink(missing_ok=True)
            return
        replace_text(path, json.dumps({"boot": process_tree.boot_id(), "processes": processes}))


def read_record(path: Path) -> Mapping[int, int]:
    """Return the processes of a record by their numbers, with their start times; none after a restart of the system."""
    try:
        record = json.loads(path.read_text(encoding="ascii"))
        if record["boot"] != process_tree.boot_id():
            return {}
        return {int(pid): int(start) for pid, start in record["processes"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
