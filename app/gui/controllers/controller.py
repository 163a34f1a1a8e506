"""The base of the controllers: what each of them has at hand, and what they share."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, SignalInstance
from PySide6.QtWidgets import QAbstractButton

from app.core.files import SeenFile
from app.core.message import Consent
from app.core.session import Folder, at_limit
from app.core.settings import RunLimits
from app.engine.engine import Engine
from app.engine.history import look_cost, look_words
from app.engine.library.agents import AgentModel
from app.gui.bridge import Bridge
from app.gui.pages.work.work_page import WorkDetails
from app.gui.panels.conversation_view import ConversationView
from app.gui.panels.right_panel import PlanPanel, RightPanel
from app.gui.tasks import Tasks, Work
from app.gui.widgets.memory import ProposalCards
from app.gui.window_frame import AppWindow, WindowFrame

FOLDER = "folder"
W_co = TypeVar("W_co", bound=AppWindow, covariant=True)


@dataclass(frozen=True, slots=True)
class Parts(Generic[W_co]):
    """What every controller has at hand."""

    window: W_co
    engine: Engine
    bridge: Bridge
    tasks: Tasks


class PageController(QObject):
    """Answers what the user asks of a page, in whichever window that is,
    and shows there what the engine reports.
    """

    def __init__(self, parts: Parts[AppWindow]) -> None:
        window = parts.window
        super().__init__(window)
        self._window, self._engine = window, parts.engine
        self._bridge, self._tasks = parts.bridge, parts.tasks
        self._language, self._look = window.language, window.look
        self._state, self._toasts = window.state, window.toasts

    @property
    def folder(self) -> Folder | None:
        """The folder in which new sessions begin."""
        return self._engine.folders.get(self._state.text(FOLDER))

    @property
    def folder_id(self) -> str:
        """The id of the folder in which new sessions begin, "" for none."""
        return self.folder.id if self.folder else ""

    def _start(self, work: Work) -> None:
        """Run a command of the engine beside those that run."""
        self._tasks.add(type(self).__name__, work)

    async def _then(self, command: Callable[[], Awaitable[object]], show: Callable[[], object]) -> None:
        """Carry out a command, and show what comes of it."""
        await command()
        show()

    def _run(self, signal: SignalInstance, command: Callable[..., Work]) -> None:
        """Run a command of the engine, with the values of a signal, each time that is emitted."""
        signal.connect(self._starts(command))

    def _starts(self, command: Callable[..., Work]) -> Callable[..., None]:
        """Return what runs a command of the engine with the values that it is called with."""
        return lambda *values: self._start(command(*values))

    def _keep_fresh(self, *signals: SignalInstance) -> None:
        """Refresh with each of these signals, and when the language changes."""
        for changed in (*signals, self._language.changed):
            changed.connect(self.refresh)

    def refresh(self) -> object:
        """Show everything as it is now."""
        raise NotImplementedError

    async def _extend(self, session_id: str, limits: RunLimits | None) -> None:
        """Let a run go so far; where a limit has paused it, it goes on."""
        await self._engine.chats.choose_limits(session_id, limits)
        if at_limit((await self._engine.open(session_id)).session):
            await self._engine.resume(session_id)

    def _answer_cards(self, view: ConversationView | WorkDetails) -> None:
        """Answer what is asked in the session of a view with what the user says on its cards."""
        cards, chats, allow = view.cards, self._engine.chats, Consent.ALLOW
        self._run(cards.answered, lambda one, said: chats.answer(view.session_id, one, said))
        self._run(cards.calls_answered, lambda some, said: chats.answer_calls(view.session_id, some, said))
        self._run(cards.dismissed, lambda item: chats.dismiss(view.session_id, item))
        self._run(cards.handed_over, lambda one, given: chats.answer(view.session_id, one, allow, given))

    def _answer_proposals(self, cards: ProposalCards) -> None:
        """Let cards keep or refuse what an assistant has proposed to remember."""
        self._run(cards.kept, self._engine.memory.keep)
        self._run(cards.refused, self._engine.memory.refuse)

    def _offer_undo(
        self, key: str, undo: Callable[[], object], *, lasts: bool = False, **blanks: object
    ) -> None:
        """Say what was done, with a button that takes it back; a coroutine that `undo` returns is run.

        What was deleted `lasts`: it can be taken back once the button is gone.
        """

        def take_back() -> None:
            if isinstance(work := undo(), Coroutine):
                self._start(work)

        self._toasts.show_toast(
            self._language(key, **blanks), self._language("toast.undo"), take_back, lasts=lasts
        )

    def _say_look(self, file: SeenFile, name: str, models: Sequence[AgentModel]) -> None:
        """Say what of a PDF file is not seen as it looks, and where it takes much of a model's window."""
        if 0 < file.shown < file.pages:
            cut = self._language("chat.file.images.cut", name=name, shown=file.shown, pages=file.pages)
            self._toasts.show_toast(cut)
        if cost := look_cost(file.attachment, models, self._engine.connections.known_facts):
            self._toasts.show_toast(look_words(cost, name, self._language))


class Controller(PageController):
    """Answers what the user asks of one part of the main window."""

    _window: WindowFrame

    def __init__(self, parts: Parts[WindowFrame]) -> None:
        super().__init__(parts)

    def _add_panel(self, panel: PlanPanel | RightPanel, button: QAbstractButton, kept: str) -> None:
        """Add a panel beside the main area, shown by a button; `kept` is its name in the window's state."""
        splitter = self._window.splitter
        splitter.addWidget(panel)
        splitter.setCollapsible(splitter.indexOf(panel), False)
        button.setChecked(self._state.flag(kept, False))
        panel.setVisible(button.isChecked())
        button.toggled.connect(panel.setVisible)
        button.toggled.connect(lambda on: self._state.keep(kept, on))
        panel.close_requested.connect(lambda: button.setChecked(False))
