"""`moot mcp`: Moot as an MCP server on standard input and output, for other agents; no window, no engine,
no lock.

Each tool is a command that it hands to the Moot that holds the data directory (the owner), a window or one
without (`running`), which is started where there is none. A call returns after at most 45 seconds, because
some programs end a silent call after 60; `wait` goes on from there.
"""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import psutil
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from app import __version__
from app.children.private_files import last_lines
from app.cli.arguments import TOLD_WHOLE, Arguments
from app.cli.control import TooLongError, UnansweredError, hand_over, has_ended, owner_pid
from app.cli.exit_status import OK, PAUSED_OR_STOPPED
from app.cli.interrupt import Interrupt, beside
from app.cli.running import complaints_of, start_background
from app.cli.terminal import Nobody
from app.core.session import CLASSIC_MODES, DebateMode
from app.storage.access import WriterLock
from app.storage.paths import DataPaths

_REACH_S = 30.0
_AGAIN_S = 0.1
# Where a window takes over, nobody else should be started meanwhile.
_START_AFTER_S = 8.0
_COMPLAINT_BYTES = 8_000
# Set by Moot for the external agents that it runs.
_STARTED_BY_MOOT = "MOOT_AGENTS"
Found = dict[str, Any]


class CallError(Exception):
    """A call that failed; `code` is for programs, the text for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class OwnerLines(Nobody):
    """Reads what the owner writes: how far a session is, and the answer, each a line of JSON."""

    def __init__(self) -> None:
        self._rest = self.progress = self.complaint = ""
        self.found: Found = {}

    async def write(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            found = json.loads(line)
            if "progress" in found:
                self.progress = str(found["progress"])
            else:
                self.found = found

    async def complain(self, line: str) -> None:
        self.complaint = line


class Owner:
    """The Moot that holds the data directory; one without a window is started where there is none."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._started: psutil.Process | None = None
        self._reached = False

    async def call(self, arguments: Arguments, lines: OwnerLines) -> Found:
        """Hand a command over and return its answer. Raises CallError.

        Waiting goes on with the next owner where this one gives way to a window, or was killed.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        waits = arguments.command == "show"
        start_at, waits_until = now, now + (arguments.values["count"] if waits else 0)
        until = max(waits_until, now + _REACH_S)
        while loop.time() < until:
            if waits:
                left = max(0, round(waits_until - loop.time()))
                arguments = replace(arguments, values={**arguments.values, "count": left})
            try:
                status = await hand_over(self._paths.control, arguments, lines, Interrupt())
            except TooLongError:
                raise CallError("too_long", "The text is too long.") from None
            except UnansweredError:
                if loop.time() >= start_at and not WriterLock(self._paths).is_held():
                    self._start()
            except ConnectionError:
                self._reached = True
                if not waits:
                    raise CallError("owner_ended", "Moot ended meanwhile; list the sessions.") from None
            else:
                self._reached = True
                if status != PAUSED_OR_STOPPED:
                    return _checked(lines)
                start_at = loop.time() + _START_AFTER_S
            await asyncio.sleep(_AGAIN_S)
        raise CallError("owner_unreachable", "Moot does not answer.")

    def _start(self) -> None:
        """Start a Moot without a window, unless one is starting.
        Raises CallError where the last one could not be.
        """
        if self._started is not None:
            if not has_ended(self._started):
                return
            self._started = None
            if not self._reached and (complaint := _complaint(self._paths)):
                raise CallError("not_started", complaint)
        try:
            self._started, self._reached = psutil.Process(start_background(self._paths)), False
        except psutil.NoSuchProcess:
            raise CallError("not_started", _complaint(self._paths) or "Moot could not be started.") from None
        except (OSError, subprocess.SubprocessError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise CallError("not_started", f"Moot could not be started: {reason}") from None


def _complaint(paths: DataPaths) -> str:
    """Return the last line that a Moot without a window wrote before it ended, "" for none."""
    lines = last_lines(complaints_of(paths), _COMPLAINT_BYTES).splitlines()
    return lines[-1] if lines else ""


def _checked(lines: OwnerLines) -> Found:
    """Return the answer. Raises CallError where it is an error."""
    if not lines.found:
        raise CallError("fault", lines.complaint or "Moot gave no answer.")
    if "error" in lines.found:
        raise CallError(str(lines.found["error"]), str(lines.found.get("message", "")))
    return lines.found


def refuse_recursion(paths: DataPaths) -> None:
    """Raise CallError where a Moot has started the program that calls, so that debates would hold debates."""
    own = owner_pid(paths.control)
    if _STARTED_BY_MOOT in os.environ or (
        own is not None and any(parent.pid == own for parent in psutil.Process().parents())
    ):
        raise CallError("called_from_moot", "Moot started this agent, so it cannot call Moot.")


LONGEST_WAIT_S = 45
PROGRESS_S = 5.0
_NAME_LENGTH = 60
_ABOUT = (
    "Moot lets several AI models debate or answer one question, and the user can watch and step in. "
    "Calls return within 45 seconds; while the status is running, call wait with the session_id for the rest."
)
# Some programs ask the user before each call of a tool that says nothing of this.
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ASKS = ToolAnnotations(destructive_hint=False)
Who = Annotated[str, Field(description="Name of an assistant or a group; see list")]
SessionId = Annotated[str, Field(description="Of a session to go on with")]
Mode = Annotated[str, Field(pattern=f"^({'|'.join(CLASSIC_MODES)})$")]
Participants = Annotated[
    tuple[str, ...],
    Field(description="2 to 5: names of assistants, PROVIDER/MODEL, or NAME=PROVIDER/MODEL:ROLE; see list"),
]


def serve(arguments: Arguments) -> int:
    """Serve the program at standard input until it closes that; return the exit status."""
    # Nothing here needs to be put away, and reading standard input cannot be cancelled.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    calls = AgentCalls(DataPaths(arguments.root))
    server = _MootServer("moot", title="Moot", instructions=_ABOUT, version=__version__, log_level="CRITICAL")
    for tool in (calls.ask, calls.debate, calls.council, calls.wait, calls.say):
        server.add_tool(tool, annotations=_READS if tool == calls.wait else _ASKS)
    server.add_tool(calls.list_all, "list", annotations=_READS)
    asyncio.run(server.run_stdio_async())
    return OK


class AgentCalls:
    """The tools, whose texts are all that the calling model knows of Moot;
    what a session has said is told once.
    """

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._owner = Owner(paths)
        # By session: how many characters of each message were told.
        self._told: dict[str, dict[str, int]] = {}

    async def ask(self, ctx: Context, who: Who, text: str, session_id: SessionId = "") -> CallToolResult:
        """Ask one of the user's assistants or groups; returns the answer.
        With session_id the conversation goes on.
        """
        return await self._start(ctx, "ask", assistant=who, text=text, session=session_id)

    async def debate(
        self,
        ctx: Context,
        topic: str,
        participants: Participants = (),
        mode: Mode = DebateMode.ROUND_ROBIN,
        rounds: Annotated[int, Field(ge=1, le=3)] = 2,
        verdict: bool = False,
    ) -> CallToolResult:
        """Let several models debate a topic in rounds; returns what was said so far."""
        how = {"mode": mode, "rounds": rounds, "verdict": verdict}
        return await self._start(ctx, "debate", text=topic, participants=participants, **how)

    async def council(
        self,
        ctx: Context,
        question: str,
        participants: Participants = (),
        panel: Annotated[str, Field(description="A saved panel in place of participants")] = "",
    ) -> CallToolResult:
        """Ask several models one question, unseen by each other; returns their answers and how they
        differ.
        """
        return await self._start(ctx, "council", text=question, participants=participants, panel=panel)

    async def say(self, ctx: Context, session_id: str, text: str) -> CallToolResult:
        """Step into a debate, or say more in a chat. Only the user answers what a session asks."""
        found = await self._call(ctx, "reply", session=session_id, text=text)
        for message_id in found.get("said", ()):
            self._told.setdefault(session_id, {})[message_id] = TOLD_WHOLE
        return await self.wait(ctx, session_id, 0)

    async def wait(
        self,
        ctx: Context,
        session_id: str,
        seconds: Annotated[int, Field(ge=0, le=LONGEST_WAIT_S)] = LONGEST_WAIT_S,
    ) -> CallToolResult:
        """Wait for a session; returns what came since the last call, and its status."""
        told = self._told.setdefault(session_id, {})
        seen = tuple(each if end == TOLD_WHOLE else f"{each}:{end}" for each, end in told.items())
        found = await self._call(ctx, "show", session=session_id, count=seconds, seen=seen)
        found["statements"] = _new(found["statements"], told)
        found["next"] = _next(found)
        return _result(_in_words(found), found)

    async def list_all(
        self,
        ctx: Context,
        what: Literal["all", "assistants", "groups", "models", "panels", "sessions"] = "all",
    ) -> CallToolResult:
        """List whom to ask, and the sessions that you began."""
        found = await self._call(ctx, "sessions", name=what)
        return _result(json.dumps(found, ensure_ascii=False), found)

    async def _start(self, context: Context, command: str, **values: Any) -> CallToolResult:
        """Hand over a command that starts or continues a session, and wait for what comes of it."""
        loop = asyncio.get_running_loop()
        until = loop.time() + LONGEST_WAIT_S
        found = await self._call(context, command, **values)
        return await self.wait(context, str(found["session_id"]), max(0, round(until - loop.time())))

    async def _call(self, context: Context, command: str, **values: Any) -> Found:
        """Hand over a command and report progress meanwhile. Raises CallError."""
        lines = OwnerLines()
        async with beside(_report(context, lines)):
            refuse_recursion(self._paths)
            arguments = Arguments(command=command, caller=_caller(context), language="en", values=values)
            return await self._owner.call(arguments, lines)


def _failed(error: CallError) -> CallToolResult:
    found = {"error": error.code, "message": str(error)}
    return _result(f"{error.code}: {error}", found, is_error=True)


def _result(text: str, found: Found, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=found, is_error=is_error
    )


async def _report(context: Context, lines: OwnerLines) -> None:
    """Report progress every few seconds; the numbers are seconds."""
    seconds = 0.0
    while True:
        await asyncio.sleep(PROGRESS_S)
        seconds += PROGRESS_S
        await context.report_progress(seconds, message=lines.progress or None)


def _caller(context: Context) -> str:
    """Return the name of the program that calls, as it says itself."""
    client = context.request_context.session.client_params
    name = client.client_info.title or client.client_info.name if client is not None else ""
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return " ".join(printable.split())[:_NAME_LENGTH] or "MCP"


def _new(statements: Sequence[Found], told: dict[str, int]) -> list[Found]:
    """Return the statements that no other call has told meanwhile, and note that they are told now."""
    new = []
    for statement in statements:
        message_id, begun, end = (statement.pop(name) for name in ("id", "from", "to"))
        if told.get(message_id, 0) == begun:
            told[message_id] = end
            new.append(statement)
    return new


def _next(found: Found) -> str:
    """Return in a line what the caller can do next."""
    if found.get("more") or found["status"] == "running":
        return f"Call wait with session_id {found['session_id']} for the rest."
    if found["status"] == "waiting" and found.get("question"):
        return "Only the user can answer this, in Moot. Then call wait."
    return "It is paused. The user can resume it in Moot." if found["status"] == "paused" else ""


def _in_words(found: Found) -> str:
    """Return an answer as text."""
    parts = [f"{found['title']} · {found['status']} · session_id {found['session_id']}"]
    for statement in found["statements"]:
        number = f" (round {statement['round']})" if statement["round"] else ""
        parts.append(f"{statement['name']}{number}:\n{statement['text']}")
    parts += [str(found[name]) for name in ("question", "reason", "result", "next") if found.get(name)]
    return "\n\n".join(parts)


class _MootServer(MCPServer[Any]):
    """An MCP server whose errors have a code."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, CallError):
                return _failed(cause)
            if not isinstance(cause, ValidationError):
                raise
            faults = cause.errors(include_input=False, include_url=False)
            wrong = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
            return _failed(CallError("arguments", "; ".join(wrong)))
