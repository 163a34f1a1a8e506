"""A running command: what it may use, how it prints and asks, and how it follows a session to its end.

`ThinkingLine` is the line in the terminal that says how long a model has been thinking.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.cli.arguments import Arguments
from app.cli.exit_status import BY_STATUS, FAULT, OK, PAUSED_OR_STOPPED
from app.cli.interrupt import Interrupt, beside
from app.cli.printing.chats import ChatPrinter, CouncilPrinter, DebatePrinter, decision_text, workflow_end
from app.cli.printing.lines import columns, json_line, lines_text
from app.cli.printing.sessions import Follower, Printer, cost_line, event_json, last_line, marks
from app.cli.terminal import Out, TerminalOut, show_progress
from app.core import events
from app.core.errors import BadInput, NotFound, ProviderError
from app.core.files import FileText
from app.core.frozen import Frozen
from app.core.ids import is_id
from app.core.message import Attachment, MessageState
from app.core.provider import ProviderStatus
from app.core.session import DebateSession, Reason, Session, Status, main_code, reason_text
from app.core.texts import Texts, clock_text
from app.core.turns import last_answer
from app.engine.engine import Engine
from app.engine.live_session import LiveSession
from app.wiring import Moot

THINKS_AFTER_S = 10.0


class ThinkingLine:
    """Counts the time in which a session's speaker says nothing; `line` is what to show.

    How far the voting check is stands there at once, with the command that skips it, but never amid an
    answer's line.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._name = ""
        self._since: float | None = None
        self._checking = ""
        self._writing = False

    def listen(self, batch: tuple[events.Event, ...]) -> None:
        """Note who speaks, and what ends the silence."""
        for event in batch:
            if isinstance(event, events.SessionChanged) and event.status_changed:
                self._show_check(event.session)
            elif isinstance(event, events.TurnStarted):
                self._name, self._since = event.author.name, time.monotonic()
            elif isinstance(event, events.ToolFinished):
                self._since = time.monotonic()
            elif isinstance(event, events.MessageFinished | events.ToolStarted | events.MessageDelta):
                if isinstance(event, events.MessageDelta) and not event.text:
                    continue
                if self.line(time.monotonic()):
                    show_progress("")
                self._since, self._writing = None, isinstance(event, events.MessageDelta)

    def _show_check(self, session: Session) -> None:
        """Show how far the voting check is, or take the line away."""
        before, reason = self._checking, session.reason
        checks = session.status == Status.RUNNING and main_code(reason) == Reason.CHECKING_VOTES
        said = reason_text(reason, self._texts) if checks else ""
        self._checking = self._texts("cli.skip_check", said=said, session_id=session.id) if said else ""
        if self._checking != before and not self._writing:
            show_progress(self._checking)

    def line(self, now: float) -> str:
        """Return what to show now, "" while the silence is short."""
        if self._checking and not self._writing:
            return self._checking
        if self._since is None or now - self._since < THINKS_AFTER_S:
            return ""
        return self._texts("cli.thinking", name=self._name, time=clock_text(int(now - self._since)))

    async def show(self) -> None:
        """Show the line every second until this is cancelled."""
        try:
            while True:
                await asyncio.sleep(1)
                if line := self.line(time.monotonic()):
                    show_progress(line)
        finally:
            if self.line(time.monotonic()):
                show_progress("")


Result = TypeVar("Result")
Step = Callable[[], Awaitable[None]]


@contextlib.contextmanager
def named(path: str) -> Iterator[None]:
    """Name a file in errors by the path that was typed."""
    try:
        yield
    except BadInput as error:
        raise BadInput(error.code, **{**error.details, "name": path}) from error


def checked_id(typed: str) -> str:
    """Return what was typed for a session. Raises NotFound if that can be no session's id."""
    if not is_id(typed):
        raise NotFound("session_not_found", session=typed)
    return typed


def is_council(session: Session) -> bool:
    """Say whether a session is a council."""
    return session.debate is not None and session.debate.is_council


def printer_of(session: Session, texts: Texts) -> ChatPrinter | DebatePrinter:
    """Return what prints a session of this kind."""
    # A plain Session is of an unknown kind, or parts of it are missing.
    if session.debate is None and type(session) is not Session:
        return ChatPrinter(texts)
    return CouncilPrinter(texts) if is_council(session) else DebatePrinter(texts)


def outcome_text(session: Session, live: LiveSession, texts: Texts) -> str:
    """Return what came of a debate or a council, "" for another session."""
    if not isinstance(session, DebateSession):
        return ""
    return decision_text(session, list(live.whole_messages()), texts)


def end_text(session: Session, live: LiveSession, texts: Texts, *, read: bool = False) -> str:
    """Return what stands below a session: what came of it, what it cost, and the command that goes on.

    With `read` the session is being shown.
    """
    cost, last = cost_line(session, live.messages, texts), f"{last_line(session, texts, read=read)}\n"
    if session.debate is not None:
        outcome = outcome_text(session, live, texts)
        return f"{outcome}\n{cost}{last}" if outcome else f"\n{cost}{last}"
    if session.workflow is not None:
        return f"\n{workflow_end(session, texts)}"
    return f"\n{cost if read else ''}{last}"


class CommandRun(Frozen):
    """One run of a command; `interrupted` asks it to pause what it has started."""

    moot: Moot
    arguments: Arguments
    out: Out
    texts: Texts
    interrupted: Interrupt
    # What goes with the first message, besides the files that are named.
    attachments: tuple[Attachment, ...] = ()
    # The consent keys of the tools that need not ask in the session that it begins.
    allowed: tuple[str, ...] = ()

    @property
    def engine(self) -> Engine:
        """All that Moot can do."""
        return self.moot.engine

    async def open(self, session: str) -> LiveSession:
        """Open the session that was named. Raises StorageError, NotFound also if that is no session's id."""
        return await self.engine.open(checked_id(session))

    def provider_named(self, name: str, *, kind: str = "") -> ProviderStatus:
        """Return the provider of that name and kind. Raises NotFound, without what looks like a key."""
        for status in self.engine.providers():
            if status.config.id == name and kind in ("", status.config.kind):
                return status
        raise NotFound("provider_not_found", provider=self.moot.secrets.redact(name))

    async def answer(self, record: object, text: str) -> int:
        """Print the result, as JSON if that was asked for; return the exit status OK."""
        await self.out.write(json_line(record) if self.arguments.json else text)
        return OK

    async def answer_rows(self, record: object, rows: Iterable[Sequence[str]], nothing: str = "") -> int:
        """Print a list as aligned columns, or as JSON; `nothing` names the text of one without rows."""
        lines = columns(rows) or ([self.texts(nothing)] if nothing else [])
        return await self.answer(record, lines_text(lines))

    async def print(self, text: str) -> None:
        """Print a line of text."""
        await self.out.write(f"{text}\n")

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        """Return what the user types, None if nobody can be asked or Ctrl-C was pressed."""
        return await self.unless_interrupted(self.out.ask(question, secret=secret))

    async def confirm(self, question: str, *, yes: bool) -> bool:
        """Return whether the user agrees, with `--yes` or by answering yes.

        Raises BadInput if nobody can be asked.
        """
        if yes:
            return True
        answer = None if self.arguments.json else await self.ask(f"{question} [y/N] ")
        if answer is None and not self.interrupted.is_set():
            raise BadInput("needs_yes")
        if (answer or "").strip().casefold() in self.texts("cli.yes_words").split():
            return True
        await self.out.complain(self.texts("cli.not_agreed"))
        return False

    async def unless_interrupted(self, work: Awaitable[Result]) -> Result | None:
        """Return the result of `work`; None, with the work cancelled, if Ctrl-C is pressed first."""
        async with beside(work, self.interrupted.wait()) as (working, interrupted):
            await asyncio.wait({working, interrupted}, return_when=asyncio.FIRST_COMPLETED)
            if self.interrupted.is_set():
                return None
            result: Result = await working
            return result

    def folder_id(self, folder: str) -> str:
        """Return the id of the folder that was named, "" for none. Raises NotFound, BadInput."""
        return self.engine.folders.find(folder).id if folder else ""

    async def read_file(self, path: str) -> FileText:
        """Read a file as text; say so if only its beginning was read. Raises BadInput if it cannot be
        read.
        """
        with named(path):
            file = await self.engine.files.read(Path(path))
        if file.cut:
            await self.out.complain(self.texts("chat.file.cut", name=path))
        return file

    async def warm_up(self, *, embedded: bool = False) -> None:
        """Start what takes seconds to be ready, while the session is saved; the first turn reports failures.

        Local servers are searched first, so that the first usable model is never on one that does not run.
        """
        await self.engine.look_for_servers()
        with contextlib.suppress(ProviderError):
            await self.moot.models.start()
            if embedded:
                await self.moot.models.warm_embedded()

    async def go_on(self, live: LiveSession, step: Step) -> int:
        """Take a step in a session and print it until it no longer runs; return the exit status."""
        printer = printer_of(live.session, self.texts)
        printer.know(live.session, live.messages)

        async def start() -> str:
            await self.warm_up()
            await step()
            return live.id

        return await self.follow(start, printer)

    async def quietly(self, live: LiveSession, step: Step) -> int:
        """Take a step in a session and print nothing of it; return the exit status."""
        await self.warm_up()
        self.interrupted.session_id = live.id
        await step()
        follower = Follower(lambda _event: "", self.out, self.moot.store.flush, None)
        session = await self._printed(live.id, follower)
        return BY_STATUS.get(session.status, PAUSED_OR_STOPPED)

    async def follow(self, start: Callable[[], Awaitable[str]], printer: Printer) -> int:
        """Start a session and print it until it no longer runs, then what came of it; return the exit status.

        As JSON if that was asked for, else with `printer`.
        """
        as_json = partial(event_json, texts=self.texts) if self.arguments.json else None
        texts = self.texts if as_json is None else None
        follower = Follower(as_json or printer, self.out, self.moot.store.flush, texts)
        thinking = ThinkingLine(self.texts)
        # Another process's terminal is not this one's.
        here = isinstance(self.out, TerminalOut) and not self.arguments.json
        with contextlib.ExitStack() as heard:
            heard.callback(self.engine.bus.subscribe(follower.listen))
            if here:
                heard.callback(self.engine.bus.subscribe(thinking.listen))
            async with beside(*([thinking.show()] if here else [])):
                session_id = self.interrupted.session_id = await start()
                live = await self.engine.open(session_id)
                session = await self._printed(session_id, follower)
        if not self.arguments.json:
            await self.out.write(end_text(session, live, self.texts))
            await self.engine.councils.note_read(live.id)
        if session.chat is None or session.workflow is not None or session.status != Status.IDLE:
            return BY_STATUS.get(session.status, PAUSED_OR_STOPPED)
        return await self._answered(live)

    async def _answered(self, live: LiveSession) -> int:
        """Return the exit status where it is the user's turn: OK only if the assistant has answered."""
        answer = last_answer(live.turns.said(live.chat_session.chat.head))
        if answer is not None and answer.state == MessageState.FAILED:
            for line in marks(answer, self.texts):
                await self.out.complain(line.strip(" !\n"))
            return FAULT
        return OK if answer is not None and answer.state == MessageState.DONE else PAUSED_OR_STOPPED

    async def _printed(self, session_id: str, follower: Follower) -> Session:
        engine = self.engine
        work = (follower.follow(session_id), engine.wait(session_id), self.interrupted.wait())
        async with beside(*work) as tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            printing, ended, _ = tasks
            if not ended.done() and self.interrupted.closing:
                await engine.put_away(session_id)
            elif not ended.done():
                # The first pause lets the answer in flight finish, the second ends it.
                await engine.pause(session_id)
                await engine.pause(session_id)
            session: Session = await ended
            follower.end()
            await printing
            return session
