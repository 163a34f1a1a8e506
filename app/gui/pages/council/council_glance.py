"""What the answers hold, differ on and agree on, at a glance; over it, how many answered."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QVBoxLayout, QWidget

from app.core.council_parts import Option
from app.core.session import Participant
from app.engine.council.outcome import CouncilOutcome
from app.engine.council.record import Record
from app.engine.debate.replies import LETTERS
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.council_column import Letter
from app.gui.widgets.badge import Avatar, HeadingIcon, initials
from app.gui.widgets.boxes import STRETCH, empty, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, named, plain_label, say, show_as

SIDE_BY_SIDE = 720
BULLET = "•  "


class Shown(NamedTuple):
    """How a participant is named and marked: by its own name and colour, or by a number where names are hidden."""

    name: str
    model: str
    colour: int
    letters: str


def shown_people(participants: Sequence[Participant], hidden: str, words: Language) -> dict[str, Shown]:
    """Return how each participant is shown; with names `hidden` by a key, in an order that tells nothing."""
    if not hidden:
        letters = initials([one.name for one in participants])
        return {
            one.id: Shown(one.name, one.model, place, letters[place])
            for place, one in enumerate(participants)
        }
    drawn = random.Random(f"{hidden}/names").sample(participants, len(participants))
    return {
        one.id: Shown(words("council.number", number=place + 1), "", place, str(place + 1))
        for place, one in enumerate(drawn)
    }


class Glance(QFrame):
    """A card of three parts, side by side where there is room; emits edit_requested() for the options."""

    edit_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._language, self._look = language, look
        self._lacks = Paragraph("warn")
        self._options = named("council_options", QWidget())
        self._rows: QVBoxLayout = vbox(inside=self._options, spacing=6)
        self.edit = say(
            button("link", "council_edit", self.edit_requested.emit), language, "council.options.edit"
        )
        self.edit.dress(look, "pencil", "accent")
        self.journal = say(button("link", "council_journal"), language, "journal.button")
        self.journal.dress(look, "check", "accent")
        self._parts: dict[str, tuple[QWidget, Paragraph]] = {}
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(24)
        held = QWidget()
        vbox(
            say(plain_label("card_title"), language, "council.options"),
            self._options,
            hbox(self.edit, self.journal, STRETCH, spacing=14),
            STRETCH,
            inside=held,
            spacing=8,
        )
        self._row.addWidget(held, 5)
        for kind, tone, icon in (("differ", "warn", "circle-alert"), ("agreed", "ok", "circle-check")):
            part, text = QWidget(), Paragraph("card_text")
            title = say(plain_label("open" if kind == "differ" else "agreed"), language, f"council.{kind}")
            vbox(
                hbox(HeadingIcon(look, icon, tone), title, STRETCH, spacing=6),
                text,
                STRETCH,
                inside=part,
                spacing=8,
            )
            self._parts[kind] = part, text
            self._row.addWidget(part, 4)
        vbox(self._lacks, self._row, inside=self, margins=(16, 12, 16, 12), spacing=8)

    def show_outcome(
        self,
        result: CouncilOutcome,
        record: Record,
        holders: Mapping[str, Sequence[str]],
        people: Mapping[str, Shown],
        *,
        helped: bool,
    ) -> None:
        """Show what the answers hold; over it stands how many answered, and what the result lacks.

        `helped` is false where all models are too small to compare answers.
        """
        words = self._language
        lacks = [words("council.answered", count=result.answered, asked=result.asked)]
        if "differences" in result.degraded:
            lacks.append(words("council.grouped" if helped else "council.grouped_small"))
        if result.names_visible:
            lacks.append(words("council.names_visible"))
        show_as(self._lacks, "warn" if result.degraded else "hint", " · ".join(lacks))
        empty(self._rows)
        for letter, option in zip(LETTERS, record.options(), strict=False):
            self._rows.addWidget(
                self._option(letter, option, option.id == result.headline, holders[option.id], people)
            )
        for kind, (part, text) in self._parts.items():
            lines = []
            for point in record.points(kind):
                alone = kind == "differ" and point.only in people
                only = words("council.only", name=people[point.only].name) if alone else ""
                lines.append(BULLET + point.text + (f" ({only})" if only else ""))
            text.setText("\n".join(lines))
            part.setVisible(bool(lines))

    def _option(
        self,
        letter: str,
        option: Option,
        leads: bool,
        held_by: Sequence[str],
        people: Mapping[str, Shown],
    ) -> QWidget:
        row, tile, text = QWidget(), Letter(self._look), Paragraph("card_title")
        tile.show_letter(letter, leads=leads)
        text.setText(option.text)
        avatars = []
        held = [people[one] for one in held_by if one in people]
        for one in held:
            avatar = Avatar(self._look, 20)
            avatar.set_speaker(one.name, one.colour, letters=one.letters)
            avatars.append(avatar)
        count = plain_label("hint")
        count.setText(str(len(held_by)))
        hbox(tile, (text, 1), *avatars, count, inside=row, spacing=6)
        who = ", ".join(one.name for one in held)
        row.setAccessibleName(f"{letter}: {option.text} ({who})")
        return row

    def fit(self, width: int) -> None:
        """Put the parts side by side where there is room, else under each other."""
        across = width >= SIDE_BY_SIDE
        way = QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.TopToBottom
        self._row.setDirection(way)
        self._row.setSpacing(24 if across else 10)
