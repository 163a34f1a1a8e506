"""Running notes in the window: a line in the debate that unfolds, and what can be done with it."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QDialog

from app.core.ids import new_id
from app.core.session import Debate, DebateMode, DebateSession
from app.gui.widgets.controls import TextBox
from tests import app_driver
from tests.app_driver import at_window
from tests.builders import a_log_store, said
from tests.gui.test_discussion_view import seats
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401
from tests.wire.server import Recorded

until = partial(app_driver.until, seconds=60.0)


def _reply(request: Recorded) -> Answer:
    notes = "Write the running notes" in request.messages[-1].text
    return Answer("Openai wants a **rewrite** (1)." if notes else "Word by word, it should stay.")


async def _long_debate(folder: Path) -> str:
    """Save a debate of two that was paused after eight of nine rounds."""
    store, people = a_log_store(folder), seats("openai", "anthropic")
    await asyncio.to_thread(store.prepare)
    debate = Debate(topic="A rewrite?", participants=people, mode=DebateMode.ROLES, rounds=9, round=9)
    session = DebateSession(id=new_id(), title="A rewrite?", status="paused", debate=debate)
    messages = [
        said(one, f"{one.name} says {number}. " * 30, number) for number in range(1, 9) for one in people
    ]
    await store.bring_in(session, [replace(one, id=new_id(), turn_id=new_id()) for one in messages])
    await store.close()
    return session.id


async def test_notes_are_a_line_that_unfolds_and_can_be_edited_and_put_aside(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    for kind in ("openai", "anthropic"):
        wire_servers[kind].script(f"{kind}-wire", _reply)
    session_id = await _long_debate(data_dir)
    async with at_window(data_dir) as person:
        control = person.window.controller
        view = control.panel.discussion
        control.debates.show_setup()
        await control.debates.show_discussion(session_id)
        transcript = view.transcript

        def line() -> str:
            return next((one for one in person.transcript() if "Notes on the debate" in one), "")

        await person.click("debate_resume")
        await until(line, what="the notes")
        await person.click("debate_pause")
        await until(lambda: view.session.status == "paused")
        row_id = next(one.id for one in transcript.model.entries if one.kind == "summary")
        transcript.feed.set_open(row_id, open_=None)
        assert "Openai wants a rewrite (1)." in line() and " → " in line()
        rect = transcript.message_rect(row_id)
        assert rect is not None
        menu = transcript.context_menu(rect.center())
        shown = [one.text() for one in menu.actions()]
        assert "Do not use this summary" in shown and "Summarise again – with openai-wire" in shown
        next(one for one in menu.actions() if one.text() == "Do not use this summary").trigger()
        await until(lambda: "Not used" in line(), what="the notes to be put aside")
        transcript.action_requested.emit(row_id, "use_summary")
        await until(lambda: "Not used" not in line())
        transcript.action_requested.emit(row_id, "edit")
        assert person.find("summary_dialog", QDialog).isVisible()
        person.find("summary_text", TextBox).setPlainText("Openai may want a rewrite.")
        await person.click("summary_save")
        await until(lambda: "Not used" in line(), what="the edited ones")
        first = next(one.id for one in transcript.model.entries if one.kind == "message")
        transcript.point_out(first)
        rect = transcript.message_rect(first)
        assert rect is not None
        menu = transcript.context_menu(rect.center())
        next(one for one in menu.actions() if one.text() == "Pin").trigger()
        await until(lambda: view.session.pinned == (first,), what="the pin")
        assert "pinned" in person.transcript()[0]
        await person.click("debate_resume")
        await until(lambda: view.session.status == "completed")
        asked = wire_servers["anthropic"].requests[-1].messages
        assert "Openai may want a rewrite." in asked[0].text and "(1)." not in asked[0].text
        assert "Pinned by the user, word for word" in asked[0].text and "Openai says 1. " in asked[0].text
        model, style = transcript.model, transcript.canvas.style
        said = [at for at, one in enumerate(model.entries) if one.kind == "message"]
        heads = [model.context(at, style.tokens, style.texts).separator for at in said]
        assert sum(map(bool, heads)) == 9, "each round has one heading"
