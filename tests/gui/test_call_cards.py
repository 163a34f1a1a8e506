"""The card of a call while its tool says how far it is."""

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.core.events import ToolProgressed, ToolStarted
from app.core.message import MessageState
from app.core.tool import ToolProgress
from app.gui.display.theme import LIGHT
from tests.gui.chats import SESSION, asked, call, gave, spoke
from tests.gui.shown_view import shown_view
from tests.gui.test_transcript_feed import row


def test_a_card_shows_how_far_its_tool_is_until_it_ends(qtbot: QtBot) -> None:
    view = shown_view(qtbot, 900, 700)
    view.feed.set_retry_allowed(True)
    of_call = {"session_id": "s", "turn_id": "tm", "tool_call_id": "c", "name": "mill__work"}
    view.feed.show_session(SESSION, [asked(1), spoke("m1", "tm", "", [call("c", "mill__work")])])
    view.feed.show_call(ToolStarted(**of_call, arguments="{}"))
    view.feed.message_started(gave("r", "tm", "c", "", state=MessageState.STREAMING))
    low = row(view, "m1/0").height
    for share, text, said in (
        (None, "Sack\n1", "Sack 1"),
        (0.5, "", "50%"),
        (0.75, "Sack 3", "75% · Sack 3"),
    ):
        view.feed.show_call(ToolProgressed(**of_call, progress=ToolProgress(share=share, text=text)))
        assert said in view.describe("m1/0")
    assert row(view, "m1/0").height > low
    card, shot = row(view, "m1/0"), view.viewport().grab().toImage()
    top = view.message_rect("m1/0").top()
    line = card._progress_line
    for share, colour in ((0.7, LIGHT.accent), (0.8, LIGHT.line)):
        at = line.left() + round(line.width() * share), top + line.bottom() - 3
        assert shot.pixelColor(*(round(one * shot.devicePixelRatio()) for one in at)).name() == colour.lower()
    view.feed.message_finished(gave("r", "tm", "c", "Four sacks", seconds=1.0))
    assert row(view, "m1/0").height == low and "75%" not in view.describe("m1/0")


def test_what_a_result_refers_to_is_read_through_its_server_and_web_pages_in_the_browser(
    qtbot: QtBot,
) -> None:
    view = shown_view(qtbot, 900, 700)
    wanted: list[tuple[str, ...]] = []
    view.resource_requested.connect(lambda *of_server: wanted.append(of_server))
    view.link_requested.connect(lambda *of_web: wanted.append(of_web))
    links = tuple(
        {"type": "resource_link", "uri": uri, "name": name, "server": server}
        for uri, name, server in (
            ("notes://May/2", "May", "library"),
            ("HTTPS://example.org/", "Page", "library"),
            ("notes://old", "Old", ""),
        )
    )
    found = replace(gave("r", "tm", "c", "Three"), resources=links)
    view.feed.show_session(SESSION, [asked(1), spoke("m1", "tm", "", [call("c", "library__find")]), found])
    card, top = row(view, "m1/0"), view.message_rect("m1/0").top()
    for rect in [rect for action, rect in card.action_rects if action.startswith("open_link")]:
        qtbot.mouseClick(
            view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.center().x(), top + rect.center().y())
        )
    assert wanted == [("library", "notes://May/2"), ("HTTPS://example.org/", "Page"), ("notes://old", "Old")]
