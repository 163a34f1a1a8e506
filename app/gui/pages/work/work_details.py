"""What stands beside the list of work: what happens now with the question, the plan, the queue, and what can be said."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.message import Message
from app.core.session import Plan
from app.core.texts import exact
from app.engine.work import WorkAction, WorkRow, WorkState
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import kind_text
from app.gui.pages.list_page import Details
from app.gui.pages.work.queue_view import QueueTask, QueueView
from app.gui.pages.work.work_rows import cost_text
from app.gui.panels.conversation_view import QuestionCards
from app.gui.widgets.boxes import STRETCH, drop, hbox, thin_line, vbox
from app.gui.widgets.composer import Composer
from app.gui.widgets.controls import icon_button, scrolling
from app.gui.widgets.editable_lists import PlanList
from app.gui.widgets.question_card import PromptCard
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, say, set_shown, show_or_hide

PAUSE, STOP, RESUME, OPEN = "pause", "stop", "resume", "open"
_ICONS = {PAUSE: "pause", RESUME: "play", STOP: "square", OPEN: "external-link"}
_WORDS = {PAUSE: "discussion.pause", RESUME: "discussion.resume", STOP: "work.stop", OPEN: "queue.open"}


class WorkDetails(Details):
    """Shows the chosen work; emits asked(session id, PAUSE, STOP, RESUME or OPEN) and told(session id, text)."""

    asked = Signal(str, str)
    told = Signal(str, str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("work_details")
        self.setProperty("kind", "right")
        self._language, self._look = language, look
        self._row: WorkRow | None = None
        self._questions: Sequence[Message] = ()
        self._names: Mapping[str, str] = {}
        self._card: PromptCard | None = None
        # What is written for other sessions and not sent yet, by their ids.
        self._unsaid: dict[str, str] = {}
        self.cards = QuestionCards(
            language, look, self, {}, names=lambda: self._names, together=lambda _: self._questions
        )
        self.cards.left.connect(self.left)
        self._kind, self._cost = ElidedLabel("hint"), plain_label("hint")
        self._title = named("work_title", Paragraph("card_title"))
        self._says, self._nothing = Paragraph("card_text"), say(Paragraph("hint"), language, "work.choose")
        self._queued = plain_label("hint")
        self.buttons = {
            name: say(
                icon_button(look, icon, f"work_{name}", partial(self._ask, name)), language, tip=_WORDS[name]
            )
            for name, icon in _ICONS.items()
        }
        self._back = say(
            icon_button(look, "chevron-left", "work_back", self.left.emit), language, tip="work.back"
        )
        self._plan_title = say(plain_label("section"), language, "plan.title")
        self.plan = PlanList(language, look, "work_plan")
        self.queue = QueueView(language)
        self.tell = Composer(look, box_name="work_tell", button_name="work_tell_send")
        self.tell.put_in_one_row()
        self.tell.submitted.connect(lambda text: self.told.emit(self.session_id, text))
        self._lay_out()
        language.follow(self._retranslate)
        self.show_work(None)

    @property
    def session_id(self) -> str:
        """The id of the session that is shown, "" for none."""
        return self._row.id if self._row is not None else ""

    def show_work(
        self,
        row: WorkRow | None,
        *,
        questions: Sequence[Message] = (),
        names: Mapping[str, str] | None = None,
        plan: Plan | None = None,
        tasks: Sequence[QueueTask] = (),
        queued: int = 0,
        can_tell: bool = False,
    ) -> None:
        """Show some work: `questions` are what is asked together, `names` those of assistants by their ids.

        `queued` is how many messages wait for the session's next turn.
        """
        words, before = self._language, self.session_id
        self._row, self._questions, self._names = row, questions, names or {}
        if self.session_id != before:
            self.area.verticalScrollBar().setValue(0)
            self._unsaid[before] = self.tell.box.toPlainText()
            self.tell.box.setPlainText(self._unsaid.pop(self.session_id, ""))
        set_shown(self._head, row is not None)
        set_shown(self._nothing, row is None and not tasks)
        if row is not None:
            self._kind.setText(
                " · ".join(filter(None, (kind_text(row.kind, words), exact(", ".join(row.who)))))
            )
            self._cost.setText(cost_text(row, words))
            self._title.setText(exact(row.title))
            runs = row.state in (WorkState.RUNNING, WorkState.WAITING) or bool(questions)
            set_shown(self.buttons[PAUSE], runs)
            set_shown(self.buttons[STOP], runs)
            set_shown(self.buttons[RESUME], row.action == WorkAction.RESUME)
        says = " · ".join(filter(None, (exact(row.says), row.stands))) if row is not None else ""
        show_or_hide(self._says, "" if questions else says)
        self._show_card()
        has_plan = plan is not None and bool(plan.items)
        set_shown(self._plan_title, has_plan)
        set_shown(self.plan, has_plan)
        works = row is not None and row.state == WorkState.RUNNING
        self.plan.show_plan(plan, editable=can_tell, working=works)
        self.queue.show_tasks(tasks)
        show_or_hide(self._queued, words("queue.messages", count=queued) if queued else "")
        set_shown(self._foot, can_tell)

    def take_question(self) -> None:
        """Take the keyboard to the question."""
        if self._card is not None:
            self._card.setFocus()

    def give_back(self, text: str) -> None:
        """Show again what could not be said."""
        self.tell.box.setPlainText(text)

    def _show_card(self) -> None:
        """Show the card of the first question; one that is being answered stays."""
        wanted = self._questions[0].id if self._questions else ""
        if self._card is not None and self._card.message.id != wanted:
            drop(self._card)
            self._card = None
        if wanted and self._card is None:
            self._card = self.cards.make(self._questions[0])
            self._cards.addWidget(self._card)
        self.cards.refresh()

    def _lay_out(self) -> None:
        self._head, body, self._foot = QWidget(), QWidget(), QWidget()
        top = hbox((self._kind, 1), self._cost, spacing=8)
        acts = hbox((self._title, 1), *self.buttons.values(), spacing=4)
        vbox(top, acts, inside=self._head, spacing=6)
        self._cards = vbox()
        parts = (self._nothing, self._head, self._says, self._cards, self._plan_title, self.plan)
        vbox(*parts, self.queue, STRETCH, inside=body, margins=(16, 14, 16, 14), spacing=10)
        self.area = scrolling(body)
        vbox(self._queued, self.tell, inside=self._foot, margins=(14, 8, 14, 12), spacing=6)
        back = hbox(self._back, STRETCH, margins=(8, 8, 8, 0))
        vbox(back, (self.area, 1), thin_line(), self._foot, inside=self, spacing=0)

    def _ask(self, name: str) -> None:
        self.asked.emit(self.session_id, name)

    def _retranslate(self) -> None:
        words = self._language
        self.tell.set_words(words("work.tell"), words("work.tell.hint"), words("discussion.send"))
