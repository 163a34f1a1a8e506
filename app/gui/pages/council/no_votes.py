"""Who does not vote in a debate or a council, and why; each can be checked again where that may change it."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.core.council import NoVoteReason
from app.core.session import Debate, main_code
from app.engine.voting import no_vote_text
from app.gui.display.appearance import Language
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, named

Check = Callable[[str], object]
CHECKED = (NoVoteReason.FOLLOWS_ORDER, NoVoteReason.SKIPPED)
"""The reasons that another check may change."""


def no_vote_rows(words: Language, debate: Debate, check: Check, *, may_check: bool) -> list[QWidget]:
    """Return a row for each who does not vote; its button calls `check` with the participant's id."""
    rows = []
    for item in debate.participants:
        if not (text := no_vote_text(debate, item, words)):
            continue
        row = QWidget()
        again = button("link", f"check_again_{item.id}", partial(check, item.id), text=words("voting.again"))
        again.setAccessibleName(f"{words('voting.again')}: {item.name}")
        if not may_check or main_code(debate.no_vote_of(item)) not in CHECKED:
            again.hide()
        said = named(f"no_vote_{item.id}", Paragraph("hint", text=text))
        hbox((said, 1, Qt.AlignmentFlag.AlignVCenter), again, inside=row, spacing=8)
        rows.append(row)
    return rows
