"""The skills of an assistant: a row each with a tick, what a foreign one says before it is allowed,
and a menu that adds some.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cache, partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QWidget

from app.core.errors import NotFound
from app.core.skills import Skill, SkillState
from app.core.texts import exact, size_text, unmarked
from app.engine.library.definitions import SeenSkill
from app.gui.dialogs.connect_dialogs import exact_field
from app.gui.display.appearance import Language, Look
from app.gui.widgets.badge import Chip, HeadingIcon
from app.gui.widgets.boxes import STRETCH, Frame, add_to, empty, follow_width, hbox, thin_line, vbox
from app.gui.widgets.controls import ENTER, TickBox, button
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, say, show_if

FOLDER, ZIP, ELSEWHERE, ALLOW, SHOW, REMOVE = "folder", "zip", "elsewhere", "allow", "show", "remove"
"""What a list asks for: the first three add skills."""

_BUTTONS = (ALLOW, SHOW, REMOVE)
_READ = (SkillState.BUILT_IN, SkillState.ALLOWED)
_INDENT, _ICON = 40, 15
MOST_LINKS = 20


@cache
def _missing(name: str) -> SeenSkill:
    """Return a skill that an assistant has, and that is not here."""
    skill = Skill(name=name, problem=NotFound("skill_not_found", name=name))
    return SeenSkill(skill=skill, state=SkillState.REFUSED)


class SkillRow(QFrame):
    """A skill: its tick, name and state; under them what it says, while that is unfolded."""

    def __init__(self, owner: "SkillList", language: Language, look: Look, seen: SeenSkill) -> None:
        super().__init__()
        self._words, self._look, self.shown = language, look, seen
        skill, name = seen.skill, seen.skill.name
        self.setObjectName(f"skill_{name}")
        self.tick = named(f"skill_{name}_tick", TickBox(look))
        self.tick.setAccessibleName(exact(skill.title or name))
        self.tick.toggled.connect(partial(owner.give, name))
        title, note = ElidedLabel(text=exact(skill.title or name)), plain_label("hint")
        title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.state = Chip(look)
        size = language("skill.files", count=skill.files, size=size_text(language, skill.size))
        note.setText(language("skill.state.built_in") if skill.built_in else size if skill.files else "")
        self._show_state()
        self._folds = not skill.built_in and skill.problem is None
        fold = HeadingIcon(look, "chevron-down", "text_2", _ICON)
        show_if(self._folds, fold)
        head = hbox(self.tick, title, note, STRETCH, self.state, fold, spacing=10, margins=(12, 9, 12, 9))
        self.details = QWidget()
        buttons = [button("" if what != REMOVE else "plain", f"skill_{name}_{what}") for what in _BUTTONS]
        for act, what in zip(buttons, _BUTTONS, strict=True):
            act.setText(language(f"skill.{what}"))
            act.clicked.connect(partial(owner.ask, what, name))
        off = plain_label("hint", text=language("skill.turns_off"))
        show_if(seen.state in (SkillState.ASKING, SkillState.CHANGED), buttons[0])
        show_if(seen.state != SkillState.REFUSED, buttons[1], off)
        foot = hbox(*buttons, STRETCH, off, spacing=8)
        vbox(*self._said(), foot, inside=self.details, margins=(_INDENT, 0, 12, 12), spacing=7)
        vbox(head, self.details, inside=self)
        self.details.setVisible(seen.state not in _READ)

    def set_on(self, on: bool, *, fixed: bool) -> None:
        """Show whether the assistant has the skill; one that may not be read is off."""
        usable = self.shown.state in _READ
        with QSignalBlocker(self.tick):
            self.tick.setChecked(on and usable)
        self.tick.setDisabled(fixed or not usable)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER:
            self._fold()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.details.isHidden() or event.position().y() < self.details.y():
            self._fold()

    def _fold(self) -> None:
        if self._folds:
            self.details.setVisible(self.details.isHidden())

    def _show_state(self) -> None:
        if self.shown.state == SkillState.CHANGED:
            moment = datetime.fromisoformat(self.shown.skill.changed_at.replace("Z", "+00:00")).astimezone()
            day = self._words("day.date", day=moment.day, month=self._words(f"month.{moment.month}"))
            self.state.set_text(self._words("skill.changed_on", day=day), "warn")
        elif self.shown.state == SkillState.ASKING:
            self.state.set_text(self._words("skill.looked"), "accent")

    def _said(self) -> list[QWidget]:
        """Return what the user should know of the skill, or why it cannot be used."""
        words, look, problem = self._words, self.shown.look, self.shown.skill.problem
        if problem is not None:
            return [plain_label("error", wrap=True, text=words.problem(problem.code, **problem.details))]
        hidden = words("skill.hidden", count=look.hidden) if look.hidden else words("skill.hidden.none")
        links, commands = words("skill.links", count=len(look.links)), len(look.commands)
        icon, colour = ("triangle-alert", "warn") if look.hidden else ("circle-check", "ok")
        found, title = [self._line(icon, colour, hidden)], words("skill.commands", count=commands)
        shown_links = "  ".join(map(exact, look.links[:MOST_LINKS]))
        found.append(self._line("external-link", "text_2", links, shown_links))
        found.append(self._line("terminal", "text_2", title, words("skill.not_run")))
        if commands:
            name = f"skill_{self.shown.skill.name}_commands"
            field = exact_field(name, title, "\n".join(look.commands))
            field.setFixedHeight(min(6, commands) * field.fontMetrics().lineSpacing() + 24)
            found.append(field)
        return found

    def _line(self, icon: str, colour: str, text: str, more: str = "") -> QWidget:
        line, sign = QWidget(), HeadingIcon(self._look, icon, colour, _ICON)
        hbox(sign, plain_label(text=text), (ElidedLabel("hint", text=more), 1), inside=line, spacing=8)
        return line


class SkillList(QWidget):
    """The skills that an assistant has, and all foreign ones; emits `changed`, and `asked` with
    what to do and a skill's name.
    """

    changed, asked = Signal(), Signal(str, str)
    TITLE = "assistant.field.skills"

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("assistant_skills")
        self._language, self._look, self._fixed = language, look, False
        self._skills: dict[str, SeenSkill] = {}
        self._given: tuple[str, ...] = ()
        # Those of Moot that are shown though the assistant does not have them any more.
        self._had: set[str] = set()
        self.rows: dict[str, SkillRow] = {}
        title, self._count = say(plain_label("field"), language, self.TITLE), plain_label("hint")
        self.add = button("plain", "assistant_skills_add").dress(look, "plus", side=12)
        self.menu = QMenu(self.add)
        self.add.setMenu(self.menu)
        self._none = say(Paragraph("hint"), language, "skill.none")
        self._box = Frame("card")
        self._column = vbox(inside=self._box, spacing=0)
        head = hbox(title, self._count, STRETCH, self.add, spacing=8)
        vbox(head, self._none, self._box, inside=self, spacing=5)
        follow_width(self)
        language.follow(self._retranslate)

    def set_skills(self, skills: Sequence[SeenSkill]) -> None:
        """Set the skills there are, as they were just looked at."""
        fresh = {seen.skill.name: seen for seen in skills}
        if fresh != self._skills:
            self._skills = fresh
            self._draw()

    def show_value(self, names: tuple[str, ...]) -> None:
        """Show the names of the skills that an assistant has."""
        self._given, self._had = names, set(names)
        self._draw()

    def set_fixed(self, fixed: bool) -> None:
        """Let the skills be changed, or only be looked at."""
        self._fixed = fixed
        self._draw()

    def value(self) -> tuple[str, ...]:
        """Return the names of the skills that the assistant has."""
        return self._given

    def seen(self, name: str) -> SeenSkill:
        """Return a skill as it is shown."""
        return self._skills[name]

    def ask(self, what: str, name: str) -> None:
        """Ask for something to be done with a skill; one that is not here is only taken away."""
        if name in self._skills:
            self.asked.emit(what, name)
        else:
            self.give(name, on=False)

    def give(self, name: str, on: bool = True) -> None:
        """Give the assistant a skill, or take it away."""
        self._given = (*(item for item in self._given if item != name), *((name,) if on else ()))
        self._had.add(name)
        self._draw()
        self.changed.emit()

    def _retranslate(self) -> None:
        self.rows = {}
        self._draw()

    def _draw(self) -> None:
        words, skills = self._language, self._skills
        shown = {name: seen for name, seen in skills.items() if name in self._had or not seen.skill.built_in}
        shown |= {name: _missing(name) for name in self._given if skills and name not in skills}
        if shown != {name: row.shown for name, row in self.rows.items()}:
            empty(self._column)
            self.rows = {name: SkillRow(self, words, self._look, seen) for name, seen in shown.items()}
            parts = [part for row in self.rows.values() for part in (thin_line(), row)]
            add_to(self._column, *parts[1:])
        for name, row in self.rows.items():
            row.set_on(name in self._given, fixed=self._fixed)
        self._count.setText(str(len(shown) or ""))
        self.add.setText(words("chips.add"))
        self.add.setAccessibleName(words("chips.add_to", what=words(self.TITLE)))
        show_if(shown, self._box)
        show_if(not shown, self._none)
        self.add.setVisible(not self._fixed)
        self.menu.clear()
        for seen in (seen for name, seen in skills.items() if name not in shown):
            self.menu.addAction(unmarked(seen.skill.title), partial(self.give, seen.skill.name))
        self.menu.addSeparator()
        for what in (FOLDER, ZIP, ELSEWHERE):
            self.menu.addAction(words(f"skill.add.{what}"), partial(self.asked.emit, what, ""))
