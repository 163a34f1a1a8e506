"""The lines about a session that the command line prints for all kinds, and the printers of its events."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from app.cli.printing.lines import json_line, named_text, one_line
from app.cli.terminal import Out
from app.core.errors import UNWRITTEN, StorageError
from app.core.events import Event, LimitNear, MessageDelta, MessageFinished, Notice, RetryScheduled
from app.core.message import Message, MessageState, Role, Total, near_text, spent_text
from app.core.session import (
    HELD_UP,
    Reason,
    Session,
    Status,
    failure_detail,
    in_words,
    paused_text,
    reason_text,
    resumable,
)
from app.core.texts import Texts, without_steering
from app.engine.export.event_lines import event_line

Printer = Callable[[Event], str]


def event_json(event: Event, texts: Texts) -> str:
    """Return an event as one line of JSON, with the text of a notice; "" for one that scripts are not
    told.
    """
    line = event_line(event, aside_text(event, texts))
    return "" if line is None else json_line(line)


def aside_text(event: Event, texts: Texts) -> str:
    """Return the text of a notice or of a turn that waits."""
    match event:
        case RetryScheduled():
            reason = named_text(texts, "failure", event.reason)
            key, again = "cli.retry", {}
            if event.repeat:
                key, again = "turn.asked_again_in", {"repeat": event.repeat, "repeats": event.repeats}
            seconds = max(1, round(event.seconds))
            return one_line(texts(key, name=event.author.name, reason=reason, seconds=seconds, **again))
        case LimitNear():
            return near_text(texts, event.limit, event.spent, event.most)
        case Notice():
            details = in_words(event.details, texts)
            text = named_text(texts, "notice", event.code, details)
            # The code of a notice may be that of an error.
            text = named_text(texts, "error", event.code, details) if text == event.code else text
            kept = texts("storage.kept") if event.code in UNWRITTEN else ""
            return without_steering(f"{text} {kept}").rstrip()
        case _:
            return ""


def marks(message: Message, texts: Texts) -> list[str]:
    """Return the lines below a message: the pictures of an answer, and whether it was cut, failed
    or carries a warning.
    """
    answered = message.role == Role.ASSISTANT
    pictures = [f"  [{one_line(file.name)}]\n" for file in message.attachments if answered]
    return pictures + _warnings(message, texts)


def _warnings(message: Message, texts: Texts) -> list[str]:
    if message.state == MessageState.FAILED and message.error is not None:
        error = message.error
        reason = without_steering(named_text(texts, "failure", error.kind))
        said = failure_detail(error.kind, one_line(error.detail), message.model.partition("/")[0], texts)
        reason = f"{reason} {said}".rstrip()
        return [f"  ! {texts('cli.failed', name=message.author.name)} {reason}\n"]
    if message.state in {MessageState.STOPPED, MessageState.STREAMING}:
        return [f"  ! {texts('cli.cut')}\n"]
    if message.state not in {MessageState.DONE, MessageState.FAILED}:
        return [f"  ! {texts('unknown')}\n"]
    if message.state == MessageState.DONE and message.note:
        return [f"  ! {texts.named('cli.note', message.note)}\n"]
    return []


def cost_line(session: Session, messages: Iterable[Message], texts: Texts) -> str:
    """Return what a session has cost and what the providers' caches saved as one line, ""
    if no model was called.
    """
    debate = session.debate
    votes = (*debate.ballots, debate.verdict) if debate is not None else ()
    voted = (vote.usage for vote in votes if vote is not None)
    total = Total.of(*filter(None, (*(message.usage for message in messages), *session.unsaid, *voted)))
    return spent_text(texts, total) + "\n" if total.calls else ""


def status_text(session: Session, texts: Texts) -> str:
    """Return the state of a session and its reason."""
    if session.status in (Status.PAUSED, Status.STOPPED) and (paused := paused_text(session, texts)):
        return paused
    why = "" if session.reason == Reason.BY_USER else reason_text(session.reason, texts)
    return " · ".join(filter(None, (texts.named("cli.status", session.status), why)))


def last_line(session: Session, texts: Texts, *, read: bool = False) -> str:
    """Return the state of a session, its reason, and the command that continues or shows it, as one line.

    With `read` it is being shown.
    """
    if session.status in (Status.IDLE, Status.WAITING):
        return texts(f"cli.chat_{session.status}", session_id=session.id)
    parts = [one_line(status_text(session, texts))]
    if resumable(session):
        parts.append(texts("cli.resume_with", session_id=session.id))
        if session.debate is not None and session.reason in HELD_UP:
            parts.append(texts("cli.resume_ways"))
        if session.reason == Reason.CRITERIA_UNMET:
            parts.append(texts("cli.accept_with", session_id=session.id))
    elif session.status == Status.COMPLETED and not read:
        parts.append(texts("cli.read_with", session_id=session.id))
    return " · ".join(parts)


@dataclass(eq=False, repr=False)
class Follower:
    """Prints a session's events in order, from before it was created to its end.

    A batch is printed after storage has acknowledged it, so that a message shown as finished survives a
    crash. With `texts`, notices and turns that wait go to standard error, which leaves the answers alone in a
    file; not amid a line.
    """

    _printer: Printer
    _out: Out
    _acknowledged: Callable[[str], Awaitable[None]]
    _texts: Texts | None = None
    _queue: asyncio.Queue[tuple[Event, ...]] = field(default_factory=asyncio.Queue, init=False)

    def listen(self, events: tuple[Event, ...]) -> None:
        """Queue a batch from the event bus."""
        self._queue.put_nowait(events)

    def end(self) -> None:
        """Let `follow` return after it has printed the queue."""
        self._queue.put_nowait(())

    async def follow(self, session_id: str) -> None:
        """Print until the end. Raises ConnectionError when nobody reads the output any more."""
        ended = False
        unsaved: list[Event] = []
        asides: list[str] = []
        in_line = False
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
                    # The engine pauses and reports that in a notice. A message counts as finished once it is
                    # saved.
                    unsaved = [event for event in events if isinstance(event, MessageFinished)]
                    events = [event for event in events if not isinstance(event, MessageFinished)]
            text = "".join(self._printer(event) for event in events)
            if text:
                await self._out.write(text)
                in_line = not text.endswith("\n")
            if self._texts is not None:
                asides += filter(None, (one_line(aside_text(event, self._texts)) for event in events))
            while asides and (ended or not in_line):
                await self._out.complain(asides.pop(0))
