"""The claims of a council: on which of them the answer turns, who holds and who denies each, and where that was said."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.core.council_parts import Claim
from app.core.verdict import Point
from app.engine.council.outcome import sides_of
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.worth_card import Judged
from app.gui.panels.debate.cited_text import CitedText
from app.gui.widgets.badge import Avatar
from app.gui.widgets.boxes import STRETCH, FlowBox, empty, hbox, vbox
from app.gui.widgets.controls import scrolling
from app.gui.widgets.text import Paragraph, named, plain_label

WIDEST = 980
AVATAR = 20


class ClaimRow(QFrame):
    """A claim with what it cites, and who is on which side; emits cite_requested(message id).

    Up and Down go to the row before and after, Enter to the first statement that it cites.
    """

    cite_requested = Signal(str)

    def __init__(
        self, language: Language, look: Look, judged: Judged, claim: Claim, *, question: bool = False
    ) -> None:
        super().__init__()
        self.setProperty("kind", "claim")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._claim = claim
        words, names = language, {who: shown.name for who, shown in judged.people.items()}
        text = CitedText("crux" if question else "points")
        text.show_points([Point(text=claim.text, cites=claim.cites)], lambda one: judged.cite(one, words))
        text.cite_requested.connect(self.cite_requested)
        for stop in text.stops:
            stop.setAccessibleDescription(claim.text)
        settled = words("council.settled_by", text=claim.settled_by) if claim.settled_by else ""
        self.setAccessibleName(
            ". ".join(filter(None, (claim.text, settled, sides_of(claim, names, words, question=question))))
        )
        sides = FlowBox(gap=8)
        rest = {*names} - {*claim.holds, *claim.denies} if question else set()
        keys = ("crux.yes", "crux.no", "crux.open") if question else ("claim.holds", "claim.denies", "")
        for key, who in zip(keys, (claim.holds, claim.denies, rest), strict=True):
            if who and key:
                sides.add(self._side(look, judged, words(f"council.{key}", names="").strip(), who))
        hints = [hbox((Paragraph("hint", text=settled), 1))] if settled else []
        vbox(text, *hints, sides, inside=self, margins=(1, 5, 1, 5), spacing=4)

    def _side(self, look: Look, judged: Judged, title: str, who: Collection[str]) -> QWidget:
        side, parts = QWidget(), []
        for one, shown in judged.people.items():
            if one in who:
                avatar = Avatar(look, AVATAR)
                avatar.set_speaker(shown.name, shown.colour, letters=shown.letters)
                parts += [avatar, plain_label("hint", text=shown.name)]
        hbox(plain_label("hint", text=title), *parts, inside=side, spacing=5)
        return side

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._claim.cites:
            self.cite_requested.emit(self._claim.cites[0])
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            rows = self.window().findChildren(ClaimRow)
            rows = [one for one in rows if one.isVisible()]
            place = rows.index(self) + (1 if key == Qt.Key.Key_Down else -1)
            if 0 <= place < len(rows):
                rows[place].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)


class ClaimsPage(QWidget):
    """Lists the claims of a council; emits cite_requested(message id)."""

    cite_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("claims_page")
        self._language, self._look = language, look
        self._shown: object = None
        body = QWidget()
        self._inside = QWidget()
        self._inside.setMaximumWidth(WIDEST)
        hbox((self._inside, 1000), (QWidget(), 1), inside=body, margins=(18, 4, 8, 12))
        self._cards = vbox(inside=self._inside, spacing=12)
        vbox(scrolling(body, keeps_bar=True), inside=self)

    def show_claims(self, judged: Judged) -> None:
        """Show the claims of a council; what is shown already stays."""
        words, result = self._language, judged.result
        # A price that comes in must not take the row away that has the focus.
        shown = (words.texts.language, result.claims, result.cruxes, result.unsupported, dict(judged.people))
        if shown == self._shown:
            return
        self._shown = shown
        empty(self._cards)
        if result.cruxes:
            of = words("council.cruxes", count=len(result.cruxes), claims=result.claim_count)
            self._add(
                "turns_on", of if result.claims else "", self._rows(judged, result.cruxes, question=True)
            )
        if result.claims:
            self._add("claims", str(len(result.claims)), self._rows(judged, result.claims))
        if result.unsupported:
            text = CitedText("points")
            text.show_points([Point(text="", cites=result.unsupported)], lambda one: judged.cite(one, words))
            text.cite_requested.connect(self.cite_requested)
            self._add("unsupported", "", [Paragraph("hint", text=words("council.unsupported.hint")), text])
        self._cards.addStretch(1)

    def _rows(self, judged: Judged, claims: Sequence[Claim], *, question: bool = False) -> list[QWidget]:
        rows: list[QWidget] = []
        for claim in claims:
            row = ClaimRow(self._language, self._look, judged, claim, question=question)
            row.cite_requested.connect(self.cite_requested)
            rows.append(row)
        return rows

    def _add(self, name: str, count: str, parts: Sequence[QWidget]) -> None:
        card = named(f"claims_{name}", QFrame())
        card.setProperty("kind", "card")
        title = plain_label("card_title", text=self._language(f"council.{name}"))
        head = hbox(title, STRETCH, plain_label("hint", text=count))
        vbox(head, *parts, inside=card, margins=(16, 12, 16, 12), spacing=6)
        self._cards.addWidget(card)
