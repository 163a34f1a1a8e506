"""Nothing hides in what the user decides on: every dialog and card shows unseen characters as their codes."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

from app.core.definitions import Agent
from app.core.message import Attachment, Author, Message, Prompt, PromptType
from app.core.servers import McpServer
from app.core.session import Chat, ChatSession
from app.core.store import Backup, BackupContents, PackedSession
from app.core.tool import ServerState, ServerStatus
from app.engine.importing import MOOT, Arrival, Arrivals
from app.engine.library.definitions import Shared
from app.engine.work import question_text
from app.gui.dialogs.ask_dialogs import ConfirmDialog, ImportDialog, LinkDialog, RestoreDialog
from app.gui.dialogs.connect_dialogs import ConsentDialog
from app.gui.dialogs.definition_dialogs import BringInDialog, preview_of
from app.gui.display.appearance import Language, Look
from app.gui.widgets.approval_card import ApprovalCard, HandOverCard, PageCard, ViewerOffer
from app.gui.widgets.item_list import ItemList
from app.gui.widgets.question_card import OptionRow, QuestionCard
from app.gui.widgets.text import ElidedLabel, Paragraph
from app.storage.paths import resources_dir

SIGNS = "\u3164\u115f\u2800\u200b\u202e\U000e0041\ufe01\x1b\x9b"
ODD = f"a{SIGNS}b"
AUTHOR = Author(id="b", name=ODD, kind="sub", path=(ODD, "b"), depth=1)
SERVER = McpServer(
    name=ODD, command=ODD, args=(ODD,), env={ODD: "x", "HOME": f"/{ODD}", f"T{SIGNS}": "${secret:a}"}, cwd=ODD
)
AGENT = Agent(id="a", name=ODD, role=ODD, instructions=ODD, tools=(ODD,))
BACKUP = Backup(path="x", made_at="2026-11-21T10:00:00.000Z", why="", size=1)
PACKED = PackedSession(id="s", kind=ODD, title=ODD, updated_at="", messages=1, state="missing")
ARRIVAL = Arrival(
    app=ODD, session_id="s", title=ODD, messages=1, first="", last="", known=False, make=lambda: None  # type: ignore[arg-type]
)  # fmt: skip
BRINGS = Chat(assistant_id="a", instructions=ODD, context=(Attachment(name=ODD, text="x"),))


def asked(**fields: object) -> Message:
    prompt = Prompt(**{"question": ODD, "tool": ODD, **fields})  # type: ignore[arg-type]
    return Message(id="m", turn_id="t", role="system", author=AUTHOR, prompt=prompt)


HAND_OVER = asked(
    type=PromptType.APPROVAL,
    tool="switchAssistant",
    arguments=f'{{"assistant": "{ODD[:6]}", "instruction": "{ODD[:6]}"}}',
)
Make = Callable[[Language, Look, QWidget], QWidget]
SURFACES: dict[str, Make] = {
    "consent": lambda words, _look, parent: ConsentDialog(
        words, ServerStatus(server=SERVER, state=ServerState.ASKING, changed=(ODD,)), parent
    ),
    "link": lambda words, _look, parent: LinkDialog(words, "https://h/x", ODD, parent),
    "confirm": lambda words, _look, parent: ConfirmDialog(words, ODD, ODD, "Go", parent),
    "bring in": lambda words, look, parent: BringInDialog(
        words, look, preview_of(Shared(definition=AGENT, dropped=(ODD,)), words), parent
    ),
    "import": lambda words, look, parent: ImportDialog(
        words, look, Arrivals(name=ODD, sessions=(ARRIVAL,)), parent
    ),
    "import of Moot's own": lambda words, look, parent: ImportDialog(
        words,
        look,
        Arrivals(
            name=ODD,
            sessions=(
                replace(ARRIVAL, app=MOOT, make=lambda: (ChatSession(id="s", title=ODD, chat=BRINGS), ())),
            ),
        ),
        parent,
    ),
    "restore": lambda words, look, parent: RestoreDialog(
        words, look, BackupContents(backup=BACKUP, sessions=(PACKED,), documents=()), parent
    ),
    "approval": lambda words, look, _parent: ApprovalCard(
        words, look, asked(type=PromptType.APPROVAL, arguments=ODD)
    ),
    "run again": lambda words, look, _parent: ApprovalCard(
        words, look, asked(type=PromptType.APPROVAL, arguments=ODD, reason="may_have_run")
    ),
    "question": lambda words, look, _parent: QuestionCard(
        words, look, asked(type=PromptType.OPTIONS, options=(ODD,))
    ),
    "page": lambda words, look, _parent: PageCard(
        words, look, asked(type=PromptType.TEXT, server=ODD, reason="page"), ViewerOffer()
    ),
    "hand over": lambda words, look, _parent: HandOverCard(words, look, HAND_OVER, {}),
}


def shown(widget: QWidget) -> list[str]:
    """Return every text a widget shows or tells a screen reader."""
    found = []
    for one in (widget, *widget.findChildren(QWidget)):
        found += [one.accessibleName(), one.windowTitle()]
        if isinstance(one, QLabel | Paragraph | ElidedLabel):
            found.append(one.text())
        elif isinstance(one, QPlainTextEdit):
            found.append(one.toPlainText())
        elif isinstance(one, OptionRow):
            found.append(one.words())
        elif isinstance(one, ItemList):
            found += [one.item(row).said for row in range(one.count())]
    return found


@pytest.mark.threat("T14")
@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES.keys())
def test_unseen_characters_are_shown_where_the_user_decides(qtbot, qapp, surface: Make) -> None:
    words, look = Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light")
    parent = QWidget()
    qtbot.addWidget(parent)
    widget = surface(words, look, parent)
    qtbot.addWidget(widget)
    said = shown(widget)
    assert [text for text in said if set(text) & set(SIGNS)] == []
    assert any("⟨U+3164⟩" in text for text in said)


@pytest.mark.threat("T14")
@pytest.mark.parametrize(
    "message", [asked(type=PromptType.TEXT), asked(type=PromptType.APPROVAL), HAND_OVER], ids=str
)
def test_a_question_on_one_line_hides_nothing(qapp, message: Message) -> None:
    text = question_text(message, Language(resources_dir() / "i18n", "en").texts, {})
    assert "⟨U+3164⟩" in text
    assert not set(text) & set(SIGNS)


def test_a_hand_over_that_is_not_changed_runs_as_it_was_asked_for(qtbot, qapp) -> None:
    card = HandOverCard(
        Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"), HAND_OVER, {}
    )
    qtbot.addWidget(card)
    answers: list[str] = []
    card.answered.connect(answers.append)
    card.changed_and_allowed.connect(answers.append)
    card.allow.setEnabled(True)
    card.allow.click()
    assert answers == ["allow"]


@pytest.mark.threat("T11")
def test_allowing_a_server_weighs_no_more_than_refusing_it(qtbot, qapp) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    words = Language(resources_dir() / "i18n", "en")
    dialog = ConsentDialog(words, ServerStatus(server=SERVER, state=ServerState.ASKING), parent)
    assert dialog.go.property("kind") == dialog.cancel.property("kind")
    assert dialog.cancel.isDefault() and not dialog.go.isDefault()


def test_a_tool_of_moot_is_named_in_words_on_one_line_and_one_of_a_server_exactly(qapp) -> None:
    words = Language(resources_dir() / "i18n", "en")
    ours = asked(type=PromptType.APPROVAL, tool="open_url", question="")
    assert question_text(ours, words.texts, {}) == f"Allow “{words('tool.open_url.name')}”?"
    theirs = asked(type=PromptType.APPROVAL, tool="open_url", server="files", question="")
    assert question_text(theirs, words.texts, {}) == "Allow “open_url”?"
