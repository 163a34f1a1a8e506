"""The process of an external agent, and JSON-RPC 2.0 with it: one message a line on its standard input
and output.

What it sends is not trusted: unknown messages are ignored, and a program that floods is ended. `Acts` is what
it does in one turn, as it reports it: its tool calls, its plan, and what it asks to be allowed.
"""

import asyncio
import contextlib
import json
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.children import processes
from app.children.processes import Lines
from app.core.errors import FailureKind, ProviderError
from app.core.json_values import as_list, as_object, object_in
from app.core.message import AGENT_OPTION, Consent, MessageState
from app.core.owned_tasks import end_tasks, start_owned

_MOST_ACTS = 500
_MOST_ASKS = 20
_TEXT = 2_000
_TITLE = 300
_WHERE = 10
_ASKED = 200_000
_PLAN = "plan"
_MOST_OPTIONS = 10
_ALLOW, _REJECT = "allow_once", "reject_once"
_OPTION_KINDS = (_ALLOW, "allow_always", _REJECT, "reject_always")
_KINDS = frozenset(("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"))
_STATES = {"completed": MessageState.DONE, "failed": MessageState.FAILED}
_MARKS = {"completed": "✓", "in_progress": "▸"}
_CANCELLED: Mapping[str, Any] = {"outcome": "cancelled"}

Report = Mapping[str, Any]


@dataclass(eq=False, repr=False)
class Acts:
    """Keeps what is known of each act by its id, and tells of it in lines to Moot: `act` and `ask`.

    `answer` sends the program the outcome of a request for permission.
    """

    _say: Callable[[Mapping[str, object]], None]
    _answer: Callable[[Any, Report], None]
    _known: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    _told: dict[str, Mapping[str, object]] = field(default_factory=dict, init=False)
    # The number of each request that waits, and the options by the answers that choose them.
    _asked: dict[str, tuple[Any, Mapping[str, str]]] = field(default_factory=dict, init=False)
    _count: int = field(default=0, init=False)

    @property
    def busy(self) -> bool:
        """Whether an act runs or a request waits for the user, so that no text is to be expected."""
        running = (item["state"] == MessageState.STREAMING for item in self._told.values())
        return bool(self._asked) or any(running)

    @property
    def any(self) -> bool:
        """Whether anything was reported."""
        return bool(self._told)

    def take(self, update: Report) -> bool:
        """Take a report about an act; return whether it is a new one.
        Raises ProviderError where there are too many.
        """
        if update.get("sessionUpdate") == _PLAN:
            return self._tell(_PLAN, _plan(update))
        call_id = update.get("toolCallId")
        return isinstance(call_id, str) and bool(call_id) and self._merge(call_id, update)

    def ask(self, number: Any, params: Report) -> None:
        """Take a request for permission; what cannot be put to the user is refused."""
        call = as_object(params.get("toolCall"))
        options = [as_object(item) for item in as_list(params.get("options"))]
        allow, deny = _option(options, _ALLOW), _option(options, _REJECT)
        call_id = call.get("toolCallId")
        full = len(self._asked) >= _MOST_ASKS or any(number == item for item, _ in self._asked.values())
        if not isinstance(call_id, str) or not call_id or not allow or full:
            self._answer(number, _chosen(deny))
            return
        self._merge(call_id, call)
        title, arguments = _title(self._known[call_id]), _asked(self._known[call_id])
        if len(arguments) > _ASKED:
            # What the user cannot see as a whole cannot be allowed.
            self._answer(number, _chosen(deny))
            return
        self._count += 1
        ask = str(self._count)
        more = _more(options, (allow, deny))
        answers = {f"{AGENT_OPTION}{place}": option for place, (option, _, _) in enumerate(more, 1)}
        self._asked[ask] = (number, {**answers, Consent.ALLOW: allow, Consent.DENY: deny})
        told = {"id": ask, "act": call_id, "title": title, "arguments": arguments}
        self._say({"ask": {**told, "options": [{"kind": kind, "name": name} for _, kind, name in more]}})

    def answer(self, ask: str, answer: str) -> None:
        """Send the user's answer to a request that waits; one that it does not take denies."""
        if ask in self._asked:
            number, answers = self._asked.pop(ask)
            self._answer(number, _chosen(answers.get(answer, answers[Consent.DENY])))

    def cancel(self) -> None:
        """Answer all requests that wait as cancelled."""
        for number, _ in self._asked.values():
            self._answer(number, _CANCELLED)
        self._asked.clear()

    def _merge(self, call_id: str, news: Report) -> bool:
        """Put what is new to what is known of an act, and tell what it looks like now."""
        fields = ("title", "kind", "status", "rawInput", "rawOutput", "locations", "content")
        known = {**self._known.get(call_id, {}), **{name: news[name] for name in fields if news.get(name)}}
        kind = known.get("kind")
        state = _STATES.get(str(known.get("status")), MessageState.STREAMING)
        name, text = f"agent_{kind if kind in _KINDS else 'other'}", ""
        if state != MessageState.STREAMING:
            text = _result(known)
        is_new = self._tell(call_id, {"name": name, "arguments": _shown(known), "text": text, "state": state})
        # An act has ended once; what is reported of it later changes nothing.
        self._known[call_id] = known
        return is_new

    def _tell(self, act_id: str, act: Mapping[str, object]) -> bool:
        told = self._told.get(act_id)
        if told is None and len(self._told) >= _MOST_ACTS:
            raise ProviderError(FailureKind.INTERRUPTED, f"it reported more than {_MOST_ACTS} tool calls")
        over = told is not None and told["state"] != MessageState.STREAMING and act_id != _PLAN
        if told != act and not over:
            self._told[act_id] = act
            self._say({"act": {"id": act_id, **act}})
        return told is None


def refused(options: Any) -> Report:
    """Return the outcome that refuses a request: the option that rejects this once, else none."""
    return _chosen(_option([as_object(item) for item in as_list(options)], _REJECT))


def _chosen(option: str) -> Report:
    return {"outcome": "selected", "optionId": option} if option else _CANCELLED


def _option(options: Sequence[Mapping[str, Any]], kind: str) -> str:
    """Return the id of the first option of a kind, "" where there is none."""
    found = (option.get("optionId") for option in options if option.get("kind") == kind)
    return next((item for item in found if isinstance(item, str)), "")


def _more(options: Sequence[Mapping[str, Any]], taken: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Return the ids, kinds and names of the options that are not taken, as far as they can be shown."""
    found = []
    for item in options:
        option, kind, name = item.get("optionId"), item.get("kind"), item.get("name")
        known = isinstance(option, str) and option and option not in taken and kind in _OPTION_KINDS
        if known and isinstance(name, str) and name.strip():
            found.append((str(option), str(kind), " ".join(name.split())[:_TITLE]))
    return found[:_MOST_OPTIONS]


def _title(known: Report) -> str:
    """Return the program's words for an act, "" where it gave none."""
    title = known.get("title")
    command = as_object(known.get("rawInput")).get("command")
    words = title if isinstance(title, str) and title.strip() else command if isinstance(command, str) else ""
    return " ".join(words.split())[:_TITLE]


def _paths(known: Report) -> list[str]:
    places = [as_object(item).get("path") for item in as_list(known.get("locations"))[:_WHERE]]
    return [place[:_TITLE] for place in places if isinstance(place, str)]


def _shown(known: Report) -> str:
    shown: dict[str, object] = {"title": _title(known)}
    if paths := _paths(known):
        shown["paths"] = paths
    given = json.dumps(known["rawInput"], ensure_ascii=False) if known.get("rawInput") else ""
    if given:
        shown["input"] = known["rawInput"] if len(given) <= _TEXT else given[:_TEXT] + "…"
    return json.dumps(shown, ensure_ascii=False)


def _asked(known: Report) -> str:
    """Return all of what a program wants to do, as JSON text."""
    wanted: dict[str, object] = {}
    if isinstance(known.get("kind"), str):
        wanted["kind"] = known["kind"][:40]
    shown = map(as_object, as_list(known.get("content")))
    names = {"path": "path", "before": "oldText", "after": "newText"}
    differences = [item for item in shown if item.get("type") == "diff"]
    changes = [{name: item.get(theirs) for name, theirs in names.items()} for item in differences]
    more = {"input": known.get("rawInput"), "paths": _paths(known), "changes": changes}
    wanted |= {name: value for name, value in more.items() if value}
    return json.dumps(wanted, ensure_ascii=False)


def _result(known: Report) -> str:
    """Return what came of an act as text: what the program shows, else what its tool gave back."""
    parts = []
    for item in map(as_object, as_list(known.get("content"))):
        text = as_object(item.get("content")).get("text")
        if isinstance(text, str):
            parts.append(text[: _TEXT + 1])
        elif item.get("type") == "diff":
            parts.append(str(item.get("path"))[:_TITLE])
    if not parts and (given := known.get("rawOutput")):
        parts.append(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)[: _TEXT + 1])
    text = "\n".join(parts)
    return text if len(text) <= _TEXT else text[:_TEXT] + "…"


def _plan(update: Report) -> Mapping[str, object]:
    entries = [as_object(entry) for entry in as_list(update.get("entries"))[:100]]
    items = [str(entry.get("content"))[:_TITLE] for entry in entries]
    marks = [_MARKS.get(str(entry.get("status")), "–") for entry in entries]
    text = "\n".join(map(" ".join, zip(marks, items, strict=True)))[: 2 * _TEXT]
    arguments = json.dumps({"items": items}, ensure_ascii=False)
    return {"name": "agent_plan", "arguments": arguments, "text": text, "state": MessageState.DONE}


LINE_BYTES = 8 << 20
_GARBAGE_BYTES = 2_000_000
_UNASKED_MESSAGES = 5_000
_UNASKED_SECONDS = 10.0
_ERROR_LINE_BYTES = 8_000
_READ_BYTES = 1 << 16
_END_SECONDS = 0.8
_LOGIN_CODES = (-32000, 401)
_NO_METHOD = -32601
_DETAIL = 300

Message = Mapping[str, Any]


class Listener(Protocol):
    """Who waits for what a program sends about a session."""

    def take(self, params: Message) -> bool:
        """Take an update; return whether it was awaited."""

    def ask(self, number: Any, params: Message) -> bool:
        """Take a request for permission; return whether it will be answered."""


class AgentProgram:
    """One running program; useless once it has ended.
    `listeners` get what it sends about their sessions, unasked.

    `kept` are the sessions that can be gone on with, by id, each with its options as last told.
    """

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self._process = process
        self._name = name
        self._calls: dict[int, asyncio.Future[Message]] = {}
        self._next = 0
        self._garbage = 0
        self._unasked: deque[float] = deque()
        self._ending: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()
        self.why = ""
        self.known: set[processes.Process] = set()
        self.listeners: dict[str, Listener] = {}
        self.kept: dict[str, dict[str, Any]] = {}
        self.told: Mapping[str, Any] = {}
        works = (self._read_lines(), self._read_errors(), self._watch())
        self._readers = [start_owned(work) for work in works]

    @classmethod
    async def start(cls, line: Mapping[str, Any]) -> "AgentProgram":
        """Start the program of a request. Raises ProviderError where it cannot be started."""
        path = line["env"].get("PATH") or await processes.search_path()
        file = await asyncio.to_thread(processes.find_command, line["command"], line["folder"], path)
        if file is None:
            raise ProviderError(FailureKind.AGENT_MISSING, line["command"])
        try:
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
            how = {**pipes, "env": {**line["env"], "PATH": path}, "cwd": line["folder"]}
            process = await processes.start_program(file, *line["args"], group=True, **how)
        except OSError as error:
            raise ProviderError(FailureKind.AGENT_MISSING, f"{line['command']}: {error.strerror}") from error
        return cls(process, line["key"])

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether requests may be sent."""
        return not self.gone.is_set() and self._ending is None

    @property
    def takes_images(self) -> bool:
        """Whether it says that it takes pictures in a prompt."""
        told = as_object(self.told.get("agentCapabilities"))
        return as_object(told.get("promptCapabilities")).get("image") is True

    def look(self) -> None:
        """Note the processes of the program by now."""
        self.known = processes.living(self.known)
        if (own := processes.process_of(self.pid)) is not None and not self.gone.is_set():
            self.known.add(own)
        self.known |= processes.below({pid for pid, _ in self.known})

    async def ask(self, method: str, params: Message, seconds: float | None = None) -> Message:
        """Send a request and return its result. Raises ProviderError."""
        self._next += 1
        number, answer = self._next, asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        try:
            self._send({"id": number, "method": method, "params": params})
            async with asyncio.timeout(seconds):
                found = await answer
        except TimeoutError:
            raise ProviderError(FailureKind.NO_ANSWER, method) from None
        finally:
            self._calls.pop(number, None)
        if (error := found.get("error")) is not None:
            raise _refusal(error)
        return as_object(found.get("result"))

    def notify(self, method: str, params: Message) -> None:
        """Send a message that is not answered."""
        self._send({"method": method, "params": params})

    def answer(self, number: Any, outcome: Message) -> None:
        """Answer a request for permission; does nothing where the program has ended."""
        with contextlib.suppress(ProviderError):
            self._send({"id": number, "result": {"outcome": outcome}})

    def _start_ending(self) -> asyncio.Task[None]:
        self._ending = self._ending or start_owned(self._end())
        return self._ending

    async def end(self) -> None:
        """End the program and all that it has started; returns when nothing is left."""
        await asyncio.shield(self._start_ending())

    async def _end(self) -> None:
        await asyncio.to_thread(self.look)
        assert self._process.stdin is not None
        self._process.stdin.close()
        for step in (processes.end_group, processes.kill_group):
            await processes.has_exited(self._process, _END_SECONDS)
            await asyncio.to_thread(self.look)
            step(self.pid)
        await asyncio.to_thread(processes.end_processes, self.known)
        self._fail("it was ended")
        await end_tasks(*self._readers)

    def _send(self, message: Mapping[str, object]) -> None:
        if not self.alive:
            raise ProviderError(FailureKind.INTERRUPTED, self.why)
        assert self._process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode("ascii")
        with contextlib.suppress(OSError, RuntimeError):
            self._process.stdin.write(data + b"\n")

    async def _read_lines(self) -> None:
        assert self._process.stdout is not None
        lines = Lines(LINE_BYTES)
        while data := await self._process.stdout.read(_READ_BYTES):
            for line in lines.take(data):
                try:
                    self._take(line)
                except Exception as error:
                    self._break(f"it sent a message that could not be taken: {type(error).__name__}")
            if lines.cut:
                self._break(f"it sent a line of more than {LINE_BYTES >> 20} MB")
            if self.why:
                return
        self._fail("it ended")

    async def _watch(self) -> None:
        """Notice the end of the process also where something that it started keeps the pipes open."""
        await processes.has_exited(self._process)
        # Its last words may still be in the pipe.
        await asyncio.wait(self._readers[:1], timeout=_END_SECONDS)
        self._fail("it ended")

    async def _read_errors(self) -> None:
        """Read standard error to its end: a program blocks when nobody reads it."""
        assert self._process.stderr is not None
        lines = Lines(_ERROR_LINE_BYTES)
        while data := await self._process.stderr.read(_READ_BYTES):
            for line in lines.take(data):
                sys.stderr.write(f"{self._name}: {line.decode('utf-8', 'replace').rstrip()}\n")

    def _take(self, line: bytes) -> None:
        message = object_in(line)
        if message is None:
            self._garbage += len(line)
            if self._garbage > _GARBAGE_BYTES:
                self._break(f"it sent {_GARBAGE_BYTES >> 20} MB that are no messages")
        elif "method" not in message:
            number = message.get("id")
            call = self._calls.get(number) if isinstance(number, int) else None
            if call is not None and not call.done():
                call.set_result(message)
            else:
                self._count()
        else:
            self._hear(message, as_object(message.get("params")))

    def _hear(self, message: Message, params: Message) -> None:
        listener = self.listeners.get(str(params.get("sessionId")))
        heard = message["method"] == "session/update" and listener is not None and listener.take(params)
        if not heard:
            self._count()
        if "id" in message and self.alive:
            if message["method"] != "session/request_permission":
                error = {"code": _NO_METHOD, "message": "Method not found"}
                self._send({"id": message["id"], "error": error})
            elif listener is None or not listener.ask(message["id"], params):
                self.answer(message["id"], refused(params.get("options")))

    def _count(self) -> None:
        """Count a message that nobody waits for, and end a program that sends too many."""
        now = asyncio.get_running_loop().time()
        self._unasked.append(now)
        while self._unasked[0] < now - _UNASKED_SECONDS:
            self._unasked.popleft()
        if len(self._unasked) > _UNASKED_MESSAGES:
            self._break(f"it sent {_UNASKED_MESSAGES} messages that nobody asked for")

    def _break(self, why: str) -> None:
        self.why = self.why or why
        sys.stderr.write(f"{self._name} is ended: {why}\n")
        self._fail(why)
        self._start_ending()

    def _fail(self, why: str) -> None:
        self.why = self.why or why
        self.gone.set()
        for call in self._calls.values():
            if not call.done():
                call.set_exception(ProviderError(FailureKind.INTERRUPTED, self.why))
                # Nobody may be waiting for it any more.
                call.exception()


def _refusal(error: Any) -> ProviderError:
    found = as_object(error)
    data = found.get("data")
    more = data.get("message") or data.get("details") if isinstance(data, dict) else data
    words = [str(item) for item in (found.get("message"), more) if item]
    kind = FailureKind.AGENT_LOGIN if found.get("code") in _LOGIN_CODES else FailureKind.SERVER
    return ProviderError(kind, ": ".join(words)[:_DETAIL])
