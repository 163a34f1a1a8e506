"""How the command line shows what happens: the two printers and where their text goes.

Used by cli for a command that runs here and, over control's channel, for one that was handed over.
"""

import asyncio
import contextlib
import io
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, TextIO

from app.core.errors import MootError, StorageError
from app.core.events import (
    Event,
    MessageDelta,
    MessageFinished,
    MessageStarted,
    Notice,
    RetryScheduled,
    SessionStarted,
    TurnStarted,
)
from app.core.message import Message, MessageState, Role
from app.core.reasons import HELD_UP, LIMITS, Reason, paused_text, reason_code, reason_text
from app.core.session import Session, Status
from app.core.store import Problem
from app.core.text import without_steering
from app.core.texts import Texts, choose_language, in_words
from app.storage.paths import resources_dir

# What JSON may hold as it is and a terminal must not be sent; a reader that splits lines as Unicode does must
# still see one event a line.
_JSON_CODES = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


# What fits on one line of a narrow terminal: a line that wraps could not be taken back.
_MOST_OF_PROGRESS = 70
_CLEAR_LINE = "\r\x1b[K"


class Out(Protocol):
    """Where a command's text goes. Raises ConnectionError when nobody reads any more."""

    async def write(self, text: str) -> None:
        """Write to standard output at once."""
        ...

    async def complain(self, line: str) -> None:
        """Write one line to standard error."""
        ...

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        """Return what the user types, unseen where it is `secret`; None where nobody can be asked."""
        ...


class TerminalOut:
    """This process's own standard input, standard output and standard error."""

    async def write(self, text: str) -> None:
        await asyncio.to_thread(_write, sys.stdout, text)

    async def complain(self, line: str) -> None:
        await asyncio.to_thread(_write, sys.stderr, line + "\n")

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        from app.cli.terminal_input import read_typed

        return await read_typed(without_steering(question), secret=secret)


def use_utf8() -> None:
    """Let any text be written, whatever the terminal's own encoding is."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def show_progress(text: str) -> None:
    """Show a text in place of the one before, "" for none; only where standard error is a terminal."""
    if not sys.stderr.isatty():
        return
    with contextlib.suppress(OSError):
        sys.stderr.write(_CLEAR_LINE)
        _write(sys.stderr, one_line(text)[:_MOST_OF_PROGRESS])


def forget_output() -> None:
    """Point standard output at nothing, so that closing a broken pipe at exit says no more about it."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def safe_json(text: str) -> str:
    """Return a JSON text with the characters escaped that a terminal must not be sent."""
    return text.translate(_JSON_CODES)


def _write(stream: TextIO, text: str) -> None:
    """Write to the terminal, the only place that does: nothing that is printed can steer it."""
    stream.write(without_steering(text))
    stream.flush()


def load_texts(language: str) -> Texts:
    """Return the texts of a language; any other word than a language's name means the system's."""
    return Texts.load(resources_dir() / "i18n", choose_language(language))


def one_line(text: str) -> str:
    """Return the text on one line, without what steers a terminal."""
    return " ".join(without_steering(text).split())


def json_line(value: object) -> str:
    """Return a value as one line of JSON, Korean left readable."""
    return safe_json(json.dumps(value, ensure_ascii=False)) + "\n"


def error_line(error: MootError, texts: Texts) -> str:
    """Return an error as one line in the user's language."""
    details = {name: one_line(str(value))[:300] for name, value in in_words(error.details, texts).items()}
    return one_line(named_text(texts, "error", error.code, details))


def named_text(texts: Texts, prefix: str, code: str, details: Mapping[str, object] | None = None) -> str:
    """Return the text `<prefix>.<code>`; the code itself where a file of a newer version brought it."""
    try:
        return texts(f"{prefix}.{code}", **(details or {}))
    except KeyError:
        return code


def problem_line(problem: Problem, texts: Texts) -> str:
    """Return what is wrong with a file as one line: the file, the place in it, and what."""
    place = problem.path + (f":{problem.line}" if problem.line else "")
    field = f" {problem.field}" if problem.field else ""
    detail = f" ({problem.detail[:300]})" if problem.detail else ""
    return one_line(f"{place}{field}: {named_text(texts, 'problem', problem.code)}{detail}")


async def say_problems(problems: Iterable[Problem], out: Out, texts: Texts) -> None:
    """Name the files that could not be used; the rest works."""
    for problem in problems:
        await out.complain(problem_line(problem, texts))


def whereabouts(error: BaseException) -> dict[str, object]:
    """Name an unexpected error by its type and place; its text might hold anything."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return {"kind": type(error).__name__, "place": place}


class Printer(Protocol):
    """Turns one event of the session that is followed into text."""

    def __call__(self, event: Event) -> str:
        """Return what to print, possibly nothing."""
        ...


class JsonPrinter:
    """One event a line; what is said beside the messages stands there in words."""

    def __init__(self, event_line: Callable[[Event, str], dict[str, object] | None], texts: Texts) -> None:
        self._event_line = event_line
        self._texts = texts

    def __call__(self, event: Event) -> str:
        line = self._event_line(event, aside_text(event, self._texts))
        return "" if line is None else json_line(line)


class TextPrinter:
    """A transcript for people that grows as it is spoken."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._roles: dict[str, str] = {}
        self._rounds = 0
        self._round = 0
        self._shown: dict[str, int] = {}
        self._speaking: Message | None = None

    def know(self, session: Session) -> None:
        """Take over names and rounds without printing them."""
        if session.debate is not None:
            self._rounds = session.debate.rounds
            self._roles = {seat.id: seat.role for seat in session.debate.participants}

    def __call__(self, event: Event) -> str:
        match event:
            case SessionStarted():
                self.know(event.session)
                return self.heading(event.session)
            case TurnStarted():
                return self._round_line(event.round)
            case MessageStarted():
                self._speaking = event.message
                return self._opening(event.message)
            case MessageDelta():
                return self._grown(event)
            case MessageFinished():
                return self._closing(event.message)
            case _:
                return aside(event, self._texts)

    def heading(self, session: Session) -> str:
        """Return the topic, the mode and who takes part."""
        lines = [one_line(session.title)]
        if session.debate is not None:
            debate = session.debate
            mode = self._texts.named("mode", debate.mode)
            lines[0] = self._texts("cli.heading", topic=one_line(debate.topic), mode=mode)
            for seat in debate.participants:
                model = f"{seat.provider}/{seat.model}"
                lines.append(f"  {self._speaker(seat.name, seat.id)} · {one_line(model)}")
        lines.append(f"  {session.id}")
        return "\n".join(lines) + "\n"

    def message(self, message: Message) -> str:
        """Return a whole message of a session that is read, not run."""
        return self._round_line(message.round) + self._opening(message) + self._closing(message)

    def _round_line(self, number: int) -> str:
        if not number or number == self._round:
            return ""
        self._round = number
        return f"\n── {self._texts('cli.round', round=number, rounds=self._rounds)} ──\n"

    def _speaker(self, name: str, author_id: str) -> str:
        role = self._roles.get(author_id, "")
        if not role:
            return one_line(name)
        return f"{one_line(name)} ({one_line(role_text(self._texts, role))})"

    def _opening(self, message: Message) -> str:
        self._shown[message.id] = 0
        return self._label(message) + self._more(message)

    def _label(self, message: Message) -> str:
        name = self._texts("cli.you") if message.role == Role.USER else message.author.name
        return f"\n{self._speaker(name, message.author.id)}:\n"

    def _more(self, message: Message) -> str:
        """Return what of the content was not printed yet."""
        piece = message.content[self._shown[message.id] :]
        self._shown[message.id] += len(piece)
        return without_steering(piece)

    def _grown(self, event: MessageDelta) -> str:
        shown = self._shown.get(event.message_id, 0)
        if not event.text or event.offset + len(event.text) <= shown:
            return ""
        self._shown[event.message_id] = event.offset + len(event.text)
        return without_steering(event.text[max(0, shown - event.offset) :])

    def _closing(self, message: Message) -> str:
        opening = "" if message.id in self._shown else self._opening(message)
        end = opening + self._more(message) + ("\n" if message.content else "")
        cut_in = self._speaking
        if cut_in is not None and cut_in.id == message.id:
            self._speaking = None
        elif cut_in is not None:
            # Somebody stepped in: the one who was speaking goes on below, under their name again.
            end = "\n" + end + self._label(cut_in)
        return end + "".join(marks(message, self._texts))


def aside(event: Event, texts: Texts) -> str:
    """Return the line of what is said beside the messages."""
    text = aside_text(event, texts)
    return f"  {'*' if isinstance(event, Notice) else '…'} {text}\n" if text else ""


def aside_text(event: Event, texts: Texts) -> str:
    """Return what is said beside the messages: that a turn waits, or a notice."""
    match event:
        case RetryScheduled():
            reason = named_text(texts, "failure", event.reason)
            return one_line(
                texts("cli.retry", name=event.author.name, reason=reason, seconds=round(event.seconds))
            )
        case Notice():
            text = named_text(texts, "notice", event.code, event.details)
            # A notice may carry an error's code.
            return without_steering(
                named_text(texts, "error", event.code, event.details) if text == event.code else text
            )
        case _:
            return ""


def marks(message: Message, texts: Texts) -> list[str]:
    """Return the lines below a message that was cut, failed, or carries a warning."""
    if message.state == MessageState.FAILED and message.error is not None:
        error = message.error
        reason = without_steering(named_text(texts, "failure", error.kind))
        detail = f" ({one_line(error.detail)})" if error.detail else ""
        return [f"  ! {texts('cli.failed', name=message.author.name)} {reason}{detail}\n"]
    if message.state in {MessageState.STOPPED, MessageState.STREAMING}:
        return [f"  ! {texts('cli.cut')}\n"]
    if message.state not in {MessageState.DONE, MessageState.FAILED}:
        return [f"  ! {texts('unknown')}\n"]
    if message.state == MessageState.DONE and message.note:
        return [f"  ! {texts.named('cli.note', message.note)}\n"]
    return []


def role_text(texts: Texts, role: str) -> str:
    """Return a built-in role in the user's language, an own one as it is."""
    key = f"role.{role}"
    return texts(key) if key in texts else role


def status_text(session: Session, texts: Texts) -> str:
    """Return how a session stands, and why."""
    if session.status == Status.PAUSED and (paused := paused_text(session.reason, texts)):
        return paused
    why = "" if session.reason == Reason.BY_USER else reason_text(session.reason, texts)
    return " · ".join(filter(None, (texts.named("cli.status", session.status), why)))


def last_line(session: Session, texts: Texts) -> str:
    """Return the line that says how the session stands, why, and what comes next."""
    if session.chat is not None and session.status in (Status.IDLE, Status.WAITING):
        limit = reason_text(session.reason, texts) if reason_code(session.reason) in LIMITS else ""
        return one_line(f"{limit} {texts(f'cli.chat_{session.status}', session_id=session.id)}")
    parts = [one_line(status_text(session, texts))]
    if session.status == Status.PAUSED:
        parts.append(texts("cli.resume_with", session_id=session.id))
        if session.debate is not None and session.reason in HELD_UP:
            parts.append(texts("cli.resume_ways"))
    elif session.status == Status.COMPLETED:
        parts.append(texts("cli.read_with", session_id=session.id))
    return " · ".join(parts)


def verdict_text(session: Session, texts: Texts) -> str:
    """Return what came of a debate as lines, "" where there is no verdict."""
    verdict = session.debate.verdict if session.debate is not None else None
    if verdict is None:
        return ""
    by = texts("verdict.by", name=verdict.judge) if verdict.judge else texts("verdict.none")
    parts = (
        (f"{texts('verdict.title')} {by}", verdict.answer),
        (texts("verdict.agreed"), verdict.agreed),
        (texts("verdict.open"), verdict.open),
    )
    lines = []
    for heading, points in parts:
        if points:
            lines += [heading, *(f"  - {without_steering(one.text)}" for one in points), ""]
    return "\n".join([*lines, ""])


class Follower:
    """Prints a session's events in order, from before the session was made to its end.

    What a batch says is printed after storage has acknowledged it: what was once shown as
    finished is there after a crash.
    """

    def __init__(self, printer: Printer, out: Out, acknowledged: Callable[[str], Awaitable[None]]) -> None:
        self._printer = printer
        self._out = out
        self._acknowledged = acknowledged
        self._queue: asyncio.Queue[tuple[Event, ...]] = asyncio.Queue()

    def listen(self, events: tuple[Event, ...]) -> None:
        """Take a batch from the event bus."""
        self._queue.put_nowait(events)

    def end(self) -> None:
        """Let `follow` return once it has printed what is there."""
        self._queue.put_nowait(())

    async def follow(self, session_id: str) -> None:
        """Print until the end. Raises ConnectionError when nobody reads any more."""
        ended = False
        unsaved: list[Event] = []
        while not ended:
            batches = [await self._queue.get()]
            while not self._queue.empty():
                batches.append(self._queue.get_nowait())
            ended = () in batches
            new = [event for batch in batches for event in batch if event.session_id in {session_id, ""}]
            events, unsaved = unsaved + new, []
            if any(not isinstance(event, MessageDelta | Notice) for event in events):
                try:
                    await self._acknowledged(session_id)
                except StorageError:
                    # The engine pauses and says so in a notice. A message is finished once it is saved.
                    unsaved = [event for event in events if isinstance(event, MessageFinished)]
                    events = [event for event in events if not isinstance(event, MessageFinished)]
            text = "".join(self._printer(event) for event in events)
            if text:
                await self._out.write(text)
