"""Serves the requests of Moot: turns and tests of external agents, whose programs it starts, shares and ends.

A turn is a session, the model and the mode as they were set, one prompt, and its answer. The session is a new
one, unless the program still has that of the turn before. The answer is told from what the program says of
itself.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app import __version__
from app.children.private_files import replace_text
from app.children.processes import HostServer, Pipes, boot_id, children, end_processes, reap_orphans
from app.core.catalog import DEFAULT_MODEL, UNASKED_MODES
from app.core.errors import FailureKind, ProviderError
from app.core.json_values import as_list, as_object
from app.core.owned_tasks import start_owned
from app.core.provider import FinishReason
from app.providers.agent_host.program import Acts, AgentProgram, Message

_MOST_OF_NOTICE = 300


@dataclass(eq=False, repr=False)
class AnswerText:
    """Takes the pieces of an answer and returns what may be shown of them by now.

    `message_ids` says whether the program gives the messages of its model ids: then text without one is a
    notice. Where that is not known (None), text without an id is kept until the end, and counts only where no
    text had one.
    """

    _message_ids: bool | None
    _notices: tuple[str, ...]
    _complaints: tuple[str, ...]
    _without_id: str = ""
    _held: str = ""
    _begun: bool = False
    _message: str = ""
    bytes: int = 0
    # What the program itself said, without an id.
    notice: str = ""

    def take(self, text: str, message_id: str) -> str:
        """Add a piece; return the text that is certainly part of the answer.
        Raises ProviderError for a complaint.
        """
        self.bytes += len(text.encode("utf-8", "replace"))
        if not message_id and self._message_ids is not False:
            self._without_id += "" if self._message_ids else text
            self.notice = (self.notice + text)[:_MOST_OF_NOTICE] if self._message_ids else ""
            return ""
        if self._begun and message_id != self._message and text:
            text = "\n\n" + text
        self._message = message_id
        return self._checked(text)

    def rest(self) -> str:
        """Return what was held back, at the end of the answer. Raises ProviderError for a complaint."""
        self._message_ids = False
        said = self._checked(self._without_id) if not (self._begun or self._held) else ""
        held, self._held = self._held, ""
        return said + ("" if held.startswith(self._notices or ("\0",)) else held)

    def _checked(self, text: str) -> str:
        if self._begun:
            return text
        self._held = (self._held + text).lstrip()
        if self._held.startswith(self._complaints or ("\0",)):
            raise ProviderError(FailureKind.SERVER, self._held[:300])
        while self._held.startswith(self._notices or ("\0",)) and "\n" in self._held:
            self._held = self._held.partition("\n")[2].lstrip()
        starts = (*self._notices, *self._complaints)
        if not self._held or any(one.startswith(self._held) or self._held.startswith(one) for one in starts):
            return ""
        self._begun = True
        held, self._held = self._held, ""
        return held


UNSEEN = "(An image was attached here that you cannot see.)"
_OPENING = "This is the conversation so far. Answer with your next contribution only."
_GOING_ON = "The conversation goes on."
_FIRST_TEXT_SECONDS = 180.0
_IDLE_SECONDS = 120.0
_START_SECONDS = 60.0
_CLOSE_SECONDS = 2.0
_CANCEL_SECONDS = 3.0
_ANSWER_BYTES = 2_000_000
# Of the sessions that are kept some programs run a process each.
_MOST_KEPT = 4
_COST = "cost of the session"
# Words in the name of a mode that changes no files, for a program that is not in the table.
_CAREFUL = ("read", "plan", "ask")
# The category of an option; in the older form, where it stands, its value, and the values offered.
_MODE = ("mode", "modes", "currentModeId", "availableModes")
_MODEL = ("model", "models", "currentModelId", "availableModels")
_ENDS = {"max_tokens": FinishReason.LENGTH, "refusal": FinishReason.CONTENT_FILTER}


class AgentSession:
    """A session of a program, for one prompt.
    `line` is the request of Moot, `say` gets the pieces of the answer.

    An agent that works may use its tools, and asks the user; of one that only speaks a tool call ends the
    turn.
    """

    def __init__(
        self, program: AgentProgram, line: Mapping[str, Any], say: Callable[[Mapping[str, object]], None]
    ) -> None:
        self._program = program
        self._line = line
        self._say = say
        self._id = ""
        self._answer = AnswerText(line["message_ids"], tuple(line["notices"]), tuple(line["complaints"]))
        self._thought = 0
        self._heard = asyncio.Event()
        self._spoke = False
        self._prompted = False
        self._problem: ProviderError | None = None
        self._cut = ""
        self._cost: float | None = None
        # What the session had cost before, None where that is not known.
        self._cost_before: float | None = 0.0
        self.model = ""
        self.models: tuple[str, ...] = ()
        self._mode = ""
        self._takes_system = False
        self._resumed = False
        self._acts: Acts | None = Acts(say, program.answer) if line["works"] else None

    async def open(self) -> None:
        """Make or resume the session, set its mode and its model, and compare them.
        Raises ProviderError where they differ.
        """
        line = self._line
        offers = self._offers()
        self._takes_system = bool(line["system_prompt"]) and offers.get("systemPrompt") is not None
        params: dict[str, Any] = {"cwd": line["folder"], "mcpServers": []}
        if line["session"]:
            params["_meta"] = line["session"]
        if self._takes_system:
            content = [{"type": "text", "text": line["system"]}]
            params["systemPrompt"] = {"mode": line["system_prompt"], "content": content}
        state = await self._resume(params) if line["resume"] else None
        if state is None:
            state = dict(await self._program.ask("session/new", params, _START_SECONDS))
            self._id = str(state.get("sessionId") or "")
            self._program.listeners[self._id] = self
        await self._choose_mode(state)
        await self._choose_model(state)
        if self._acts is not None:
            self._program.kept[self._id] = state

    async def speak(self) -> Mapping[str, object]:
        """Ask, passing on the answer; return how it ended.
        Raises ProviderError. Cancelling cancels it in the program.
        """
        line = self._line
        head = [] if self._takes_system or not line["system"] else [line["system"]]
        said = self._blocks([_OPENING, *head], line["prompt"])
        if self._resumed:
            said = self._blocks([_GOING_ON], line["news"])
        params = {"sessionId": self._id, "prompt": said}
        self._prompted = True
        asking = asyncio.create_task(self._program.ask("session/prompt", params))
        try:
            await self._wait(asking)
        except BaseException:
            await self._cancel(asking)
            raise
        result = await asking
        self._pass_on(self._answer.rest())
        return self._ended(result)

    def answer(self, ask: str, answer: str) -> None:
        """Tell the program what the user said to its request."""
        if self._acts is not None:
            self._acts.answer(ask, answer)
            self._heard.set()

    def take(self, params: Message) -> bool:
        """Take what the program says about the session; return whether it is part of an answer
        that is awaited.
        """
        update = as_object(params.get("update"))
        kind = update.get("sessionUpdate")
        if not self._prompted:
            # What a program says while it loads a session is known.
            return self._resumed
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            return self._take_text(update, thinking=kind == "agent_thought_chunk")
        if kind in ("tool_call", "tool_call_update", "plan") and self._acts is not None:
            self._heard.set()
            try:
                return self._acts.take(update)
            except ProviderError as error:
                self._fail(error)
        elif kind == "tool_call":
            # Of an agent that only speaks the first tool call ends the turn.
            title = str(update.get("title") or update.get("kind") or "")[:200]
            self._fail(ProviderError(FailureKind.AGENT_ACTED, title))
        elif kind == "current_mode_update":
            self._check_mode(str(update.get("currentModeId")))
        elif kind == "usage_update":
            cost = as_object(update.get("cost"))
            amount = cost.get("amount")
            if isinstance(amount, int | float) and amount >= 0 and cost.get("currency") == "USD":
                self._cost = float(amount)
        return False

    def ask(self, number: Any, params: Message) -> bool:
        """Take a request for permission; return whether the user is asked."""
        if self._acts is None or not self._prompted or self._problem is not None:
            return False
        try:
            self._acts.ask(number, params)
        except ProviderError as error:
            self._fail(error)
            return False
        self._heard.set()
        return True

    async def close(self) -> None:
        """Close the session, as far as the program can; one that can be gone on with only
        when there are many.
        """
        program, leaving = self._program, self._id
        program.listeners.pop(leaving, None)
        if leaving in program.kept:
            # The one that was used last is the last.
            program.kept[leaving] = program.kept.pop(leaving)
            idle = [item for item in program.kept if item not in program.listeners]
            if len(idle) <= _MOST_KEPT:
                return
            leaving = idle[0]
            del program.kept[leaving]
        if leaving and self._offers().get("close") is not None and program.alive:
            with contextlib.suppress(ProviderError):
                await program.ask("session/close", {"sessionId": leaving}, _CLOSE_SECONDS)

    def _blocks(self, texts: Sequence[str], blocks: Sequence[Message]) -> Sequence[Message]:
        """Return a prompt that begins with texts of Moot's; a program that takes no pictures is told
        where one was.
        """
        found: list[dict[str, Any]] = [{"type": "text", "text": "\n\n".join(texts)}]
        for block in blocks:
            unseen = block["type"] == "image" and not self._program.takes_images
            shown = {"type": "text", "text": UNSEEN} if unseen else dict(block)
            if shown["type"] == found[-1]["type"] == "text":
                found[-1]["text"] += f"\n\n{shown['text']}"
            else:
                found.append(shown)
        return found

    def _offers(self) -> Message:
        return as_object(as_object(self._program.told.get("agentCapabilities")).get("sessionCapabilities"))

    async def _resume(self, params: Message) -> dict[str, Any] | None:
        """Go on with the session of a turn before; return its options, None where it is lost."""
        program, wanted = self._program, str(self._line["resume"])
        if wanted in program.listeners:
            # Another turn has it: a program takes one prompt at a time.
            return None
        told = as_object(program.told.get("agentCapabilities"))
        method = "session/resume" if self._offers().get("resume") is not None else ""
        method = method or ("session/load" if told.get("loadSession") is True else "")
        state = program.kept.get(wanted)
        if state is None and not method:
            return None
        self._id, self._resumed = wanted, True
        program.listeners[wanted] = self
        if state is not None:
            self._cost_before = state.get(_COST, 0.0)
            return state
        self._cost_before = None
        try:
            return dict(await program.ask(method, {**params, "sessionId": wanted}, _START_SECONDS))
        except ProviderError as error:
            program.listeners.pop(wanted, None)
            self._id, self._resumed, self._cost_before = "", False, 0.0
            if error.kind == FailureKind.AGENT_LOGIN or not program.alive:
                raise
            return None

    async def _wait(self, asking: "asyncio.Task[Message]") -> None:
        """Return when the prompt is answered. Raises ProviderError where the turn must be cancelled."""
        while True:
            self._heard.clear()
            listening = asyncio.create_task(self._heard.wait())
            seconds: float | None = _IDLE_SECONDS if self._spoke else _FIRST_TEXT_SECONDS
            if self._acts is not None and self._acts.busy:
                # A tool may take long, and so may the user.
                seconds = None
            try:
                when = asyncio.FIRST_COMPLETED
                done, _ = await asyncio.wait((asking, listening), timeout=seconds, return_when=when)
            finally:
                listening.cancel()
            if self._problem is not None:
                raise self._problem
            if asking in done or self._cut:
                if not asking.done():
                    await self._cancel(asking)
                return
            if not done:
                raise ProviderError(FailureKind.STALL if self._spoke else FailureKind.NO_ANSWER)

    async def _cancel(self, asking: "asyncio.Task[Message]") -> None:
        """Have the program cancel the turn; end it where it does not."""
        self._program.kept.pop(self._id, None)
        with contextlib.suppress(ProviderError):
            self._program.notify("session/cancel", {"sessionId": self._id})
        if self._acts is not None:
            self._acts.cancel()
        await asyncio.wait((asking,), timeout=_CANCEL_SECONDS)
        if not asking.done():
            await self._program.end()
        await asyncio.wait((asking,))
        if not asking.cancelled():
            asking.exception()

    def _ended(self, result: Message) -> Mapping[str, object]:
        reason = str(result.get("stopReason") or "end_turn")
        if reason == "max_turn_requests":
            raise ProviderError("steps")
        if reason == "cancelled" and not self._cut:
            raise ProviderError(FailureKind.INTERRUPTED)
        if not self._spoke and not (self._acts is not None and self._acts.any):
            # Where the program says why there is no answer, another try gets none either.
            words = self._answer.notice.strip()
            raise ProviderError(FailureKind.SERVER if words else FailureKind.EMPTY, words)
        kept = self._program.kept.get(self._id)
        cost = None
        if self._cost is not None:
            cost = None if self._cost_before is None else max(0.0, self._cost - self._cost_before)
            if kept is not None:
                kept[_COST] = self._cost
        usage = as_object(result.get("usage"))
        quota = as_object(as_object(as_object(result.get("_meta")).get("quota")).get("token_count"))
        read = _count(usage.get("inputTokens") or quota.get("input_tokens"))
        written = _count(usage.get("outputTokens") or quota.get("output_tokens"))
        used = {"input_tokens": read, "output_tokens": written, "cost_usd": cost}
        reason = self._cut or _ENDS.get(reason, FinishReason.STOP)
        return {"reason": reason, "usage": used, "session": self._id if kept is not None else ""}

    def _take_text(self, update: Message, *, thinking: bool) -> bool:
        text = as_object(update.get("content")).get("text")
        if not isinstance(text, str) or not text or self._cut or self._problem is not None:
            return False
        self._heard.set()
        if thinking:
            self._thought += len(text.encode("utf-8", "replace"))
            if self._thought <= _ANSWER_BYTES:
                self._say({"thinking": text})
            return self._thought <= _ANSWER_BYTES
        try:
            self._pass_on(self._answer.take(text, str(update.get("messageId") or "")))
        except ProviderError as error:
            self._fail(error)
        if self._answer.bytes > _ANSWER_BYTES:
            self._cut = FinishReason.LENGTH
        return True

    def _pass_on(self, text: str) -> None:
        if text:
            self._spoke = True
            self._say({"text": text})

    def _fail(self, error: ProviderError) -> None:
        self._problem = self._problem or error
        self._heard.set()

    async def _choose_mode(self, state: dict[str, Any]) -> None:
        wanted = str(self._line["mode"])
        option, current, offered = _choices(state, *_MODE)
        if not wanted and self._line["careful"]:
            wanted = next((item for item in offered if any(word in item.lower() for word in _CAREFUL)), "")
        if self._acts is not None:
            # A mode that the program does not have is not missed, unless the one it is in asks nobody.
            asking = [item for item in offered if _asks_user(item)]
            if wanted not in offered:
                wanted = current if _asks_user(current) else next(iter(asking), current)
        if wanted and current != wanted and wanted in offered:
            current = await self._set(state, _MODE, option, wanted)
        # A program that has no modes has none that lets it do more.
        if wanted and (current or offered) and current != wanted:
            raise ProviderError(FailureKind.AGENT_DIFFERS, f"{current or '?'} ≠ {wanted}")
        self._mode = wanted
        self._check_mode(current or wanted)
        if self._problem is not None:
            raise self._problem

    def _check_mode(self, mode: str) -> None:
        """End the turn where a program has changed its mode; one that works may, to any in which it asks."""
        differs = self._mode and mode != self._mode if self._acts is None else not _asks_user(mode)
        if differs:
            self._fail(ProviderError(FailureKind.AGENT_DIFFERS, mode[:200]))

    async def _choose_model(self, state: dict[str, Any]) -> None:
        wanted = self._line["model"]
        option, current, offered = _choices(state, *_MODEL)
        own = wanted in ("", DEFAULT_MODEL)
        if not own and current != wanted and wanted in offered:
            current = await self._set(state, _MODEL, option, wanted)
        self.model, self.models = current, tuple(offered)
        hosted = own and current.startswith(tuple(self._line["hosted"]) or ("\0",))
        if (not own and current != wanted) or hosted:
            differs = f"{current or '?'}{'' if own else f' ≠ {wanted}'}"
            raise ProviderError(FailureKind.AGENT_DIFFERS, differs)

    async def _set(
        self, state: dict[str, Any], names: tuple[str, str, str, str], option: str, value: str
    ) -> str:
        """Set an option of the session; return its value as the program has it now."""
        if not option:
            params = {"sessionId": self._id, f"{names[0]}Id": value}
            await self._program.ask(f"session/set_{names[0]}", params, _START_SECONDS)
            return value
        params = {"sessionId": self._id, "configId": option, "value": value}
        state.update(await self._program.ask("session/set_config_option", params, _START_SECONDS))
        return _choices(state, *names)[1]


def _asks_user(mode: str) -> bool:
    """Say whether a program asks before it changes files in a mode, as far as its name tells."""
    return mode.rpartition("/")[2].lower().replace("_", "-") not in UNASKED_MODES


def _choices(
    state: Message, category: str, older: str, current: str, available: str
) -> tuple[str, str, list[str]]:
    """Return the id of a session's option of a category ("" in the older form), its value,
    and the values offered.
    """
    options = state.get("configOptions")
    for one in map(as_object, as_list(options)):
        if category in (one.get("category"), one.get("id")):
            return str(one.get("id") or ""), str(one.get("currentValue") or ""), _values(one.get("options"))
    found = as_object(state.get(older))
    names = [as_object(item) for item in as_list(found.get(available))]
    ids = [str(name.get("id") or name.get("modelId") or "") for name in names]
    return "", str(found.get(current) or ""), [id_ for id_ in ids if id_]


def _values(options: Any) -> list[str]:
    """Return the values of an option, which may stand in groups."""
    found: list[str] = []
    for item in map(as_object, as_list(options)):
        found += [str(item["value"])] if "value" in item else _values(item.get("options"))
    return found


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0


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
            files = {"readTextFile": False, "writeTextFile": False}
            capabilities = {"fs": files, "terminal": False, "session": {"notices": {}}}
            client = {"name": "moot", "title": "Moot", "version": __version__}
            told = {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": client}
            try:
                program.told = await program.ask("initialize", told, _START_SECONDS)
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
            running = {item for item in self._programs.values() if item.alive}
            ended, self._ran = self._ran - running, running
            if ended:
                async with self._starting:
                    await asyncio.to_thread(self._end_strays, tuple(self._programs.values()))

    async def _look(self) -> None:
        programs = list(self._programs.values())

        def look() -> list[list[int]]:
            for program in programs:
                program.look()
            reap_orphans({item.pid for item in programs})
            return sorted([pid, start] for item in programs for pid, start in item.known)

        found = await asyncio.to_thread(look)
        if found != self._recorded:
            self._recorded = found
            self._pipes.write({"processes": found})
            await asyncio.to_thread(write_record, self._record, found)

    def _end_strays(self, programs: Sequence[AgentProgram]) -> None:
        """End what an ended program had started just before, so that no look has found it:
        its orphans came to this process.
        """
        own = {program.pid for program in programs}
        known = {pid for program in programs if program.alive for pid, _ in program.known}
        end_processes({(pid, start) for pid, start in children(os.getpid()) if pid not in own | known})

    async def _close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await self._end_all()

    async def _end_all(self) -> None:
        # The tasks of the turns were cancelled, but the programs end before they could answer.
        await asyncio.gather(*(program.end() for program in self._programs.values()), return_exceptions=True)
        await asyncio.to_thread(end_processes, (), os.getpid())
        if self._recorded:
            await asyncio.to_thread(write_record, self._record, [])


def write_record(path: Path, processes: list[list[int]]) -> None:
    """Write which processes must be ended where this one could not do it; an empty list removes the file."""
    with contextlib.suppress(OSError):
        if not processes:
            path.unlink(missing_ok=True)
            return
        replace_text(path, json.dumps({"boot": boot_id(), "processes": processes}))


def read_record(path: Path) -> Mapping[int, int]:
    """Return the processes of a record by their numbers, with their start times; none after a restart
    of the system.
    """
    try:
        record = json.loads(path.read_text(encoding="ascii"))
        if record["boot"] != boot_id():
            return {}
        return {int(pid): int(start) for pid, start in record["processes"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
