"""From a question on the first page to the memo about what was decided: by mouse, its clicks counted, and by keyboard."""

from collections.abc import Awaitable, Callable
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.gui.pages.council.verdict_page import VerdictPage
from tests.app_driver import Person, at_window, until
from tests.gui.test_council_page import QUESTION, script
from tests.gui.test_verdict_view import script as script_debate
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

PATIENCE_S = 60.0
WHAT_IF = "What if only two laptops write?"


class Clicks:
    """Clicks for a person and counts."""

    def __init__(self, person: Person) -> None:
        self.person, self.count = person, 0

    async def on(self, name: str) -> None:
        self.count += 1
        await self.person.click(name)

    async def entry(self, button: str, text: str) -> None:
        """Open a menu and choose an entry: two clicks."""
        self.count += 2
        self.person.choose_from(button, text)


def page_of(person: Person):  # type: ignore[no-untyped-def]
    """Return the page of the decision that is in front."""
    return person.window.controller.pages.current


async def verdict_of(person: Person, number: int, show: Callable[[str], Awaitable[object]]) -> None:
    """Wait until a verdict is on the screen; `show` presses a button by its name."""

    def there() -> bool:
        page = page_of(person)
        shown = page.findChild(VerdictPage) if page is not None and page.session is not None else None
        return (
            shown is not None
            and shown.isVisible()
            and page.session.status == "completed"
            and (number == 1 or person.sees(f"verdict_tab_{number}"))
        )

    await until(lambda: there() or person.sees("blind_close"), PATIENCE_S, what=f"verdict {number}")
    if person.sees("blind_close"):
        # A blind pick is offered before a verdict is read.
        await show("blind_close")
    await until(there, PATIENCE_S, what=f"verdict {number}")


async def ask(person: Person, clicks: Clicks, send: str, box: str, text: str) -> None:
    await person.write(box, text)
    await clicks.on(send)


async def press(person: Person, name: str) -> None:
    """Go to a control by Tab and press it by Space."""
    for _ in range(60):
        focus: QWidget | None = person.window.focusWidget()
        if focus is not None and focus.objectName() == name:
            QTest.keyClick(focus, Qt.Key.Key_Space)
            await person.settle()
            return
        QTest.keyClick(focus or person.window, Qt.Key.Key_Tab)
        await person.settle(0.01)
    raise AssertionError(f"Tab does not lead to {name}")


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_by_keyboard_alone(qapp, data_dir, wire_home) -> None:  # type: ignore[no-untyped-def]
    script(wire_home)
    control, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    async with at_window(data_dir) as person:
        window = person.window
        QTest.keyClick(window, Qt.Key.Key_D, control | Qt.KeyboardModifier.ShiftModifier)
        await person.settle()
        for text, number in ((QUESTION, 1), (WHAT_IF, 2)):
            QTest.keyClicks(window.focusWidget(), text)
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return)
            if number > 1:
                await until(lambda: page_of(person).session.status == "running", PATIENCE_S, what="the round")
            await verdict_of(person, number, partial(press, person))
            window.controller.pages.current.take_focus()
        QTest.keyClick(window, Qt.Key.Key_6, alt)
        await until(lambda: person.sees("decision_option"), what="the form")
        # It stands beside the verdict as well: only the focus tells that the step is in front.
        form = person.find("decision_keep").parentWidget()
        await until(lambda: form.isAncestorOf(window.focusWidget()), what="the focus in the form")
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return, control)
        await until(lambda: person.sees("decision_open"), what="what was decided")
        await press(person, "decision_open")
        await until(lambda: person.sees("decision_memo"), what="the decision among all")
        await press(person, "decision_memo")
        await until(lambda: person.sees("memo_page"), what="the memo")


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("language", "how"), [("en", "answers"), ("ko", "answers"), ("en", "roles")])
async def test_by_mouse_in_six_clicks_to_the_verdict(qapp, data_dir, wire_home, language, how) -> None:  # type: ignore[no-untyped-def]
    script(wire_home)
    if how == "roles":
        for server in wire_home.values():
            script_debate(server)
            for model in server.models:
                server.script(model, server._scripts[f"{server.kind}-wire"])
    async with at_window(data_dir, language=language) as person:
        words, clicks = person.window.language, Clicks(person)
        await clicks.on("segment_decide")
        if how != "answers":
            await clicks.entry("decide_how", words("mode.roles"))
        await ask(person, clicks, "send_button", "composer", QUESTION)
        await verdict_of(person, 1, clicks.on)
        assert clicks.count <= 6
        to_verdict = clicks.count
        box, send = ("debate_interject", "debate_send") if how == "roles" else ("composer", "send_button")
        await ask(person, clicks, send, box, WHAT_IF)
        await until(lambda: page_of(person).session.status == "running", PATIENCE_S, what="the round")
        await verdict_of(person, 2, clicks.on)
        await clicks.on("segment_decision")
        await until(lambda: person.sees("decision_option"), what="the form")
        await clicks.on("decision_keep")
        await until(lambda: person.sees("decision_open"), what="what was decided")
        await clicks.on("decision_open")
        await until(lambda: person.sees("decision_memo"), what="the decision among all")
        await clicks.on("decision_memo")
        await until(lambda: person.sees("memo_page"), what="the memo")
        assert clicks.count - to_verdict <= 6
