"""The real program read over the real accessibility bus: names, roles, states, and what is announced."""

import signal
import time

import pytest

from tests.screen_reader import Node, desktop, missing, wait
from tests.stories.processes import Running, moot
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401
from tests.wire.replies import WireCall

QUESTION = "Where does the data go?"
ANSWER = "It stays on this computer, in one folder. " * 4
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]


def reply(request):  # type: ignore[no-untyped-def]
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return Answer(ANSWER, pace=0.04, pieces=len(ANSWER) // 4)
    return Answer("I will look.", calls=(WireCall(name="get_pages", arguments="{}", id="call_1"),))


def items(program: Node) -> list[Node]:
    """Return the messages of the conversation."""
    return program.find("list", "Conversation").children


def test_a_screen_reader_reads_the_window_and_hears_each_answer_once(wire_home):  # noqa: F811
    wire_home["openai"].script("openai-wire", reply)
    with desktop() as (bus, environment), Running("--lang", "en", environment=environment) as running:
        program = wait(lambda: bus.desktop.children, "the program")[0]
        assert (program.role, program.name) == ("application", "Moot")
        # Roles and names.
        box = program.find("text", "Message Assistant")
        program.find("check box", "Show Team").press()
        for role, name in (
            ("push button", "Settings"),
            ("check box", "Decide"),
            ("list", "Assistants"),
            ("list item", "Assistant, Default"),
            ("label", "An assistant answers here."),
        ):
            program.find(role, name)
        used = [one for one in program.all() if one.role in ("push button", "check box", "text", "list")]
        used = [one for one in used if {"enabled", "focusable", "showing"} <= one.states]
        assert len(used) > 10
        assert [one.role for one in used if not one.name.strip()] == []
        # States. On a screen without a window manager the window has the keyboard once it comes forward.
        assert moot("--lang", "en", environment=environment).status == 0
        box.focus()
        wait(lambda: "focused" in box.states, "the focus")
        panel = program.find("check box", "Debate")
        assert "checked" not in panel.states
        panel.press()
        wait(lambda: "checked" in panel.states, "the tick")
        panel.press()
        # A conversation.
        box.write(QUESTION)
        program.find("push button", "Send").press()
        wait(lambda: len(bus.announced()) >= 2 and ANSWER.strip() in bus.announced()[-1], "the answer", 90)
        # What was to come a token at a time would be there by now.
        time.sleep(1.0)
        said = bus.announced()
        assert [one for one in said if ANSWER.strip() in one] == [f"Assistant: {ANSWER.strip()}"], said
        assert len(said) <= 4, said
        told = [one.name for one in items(program)]
        assert [one.role for one in items(program)] == ["list item"] * len(told)
        assert any(name.startswith("You") and QUESTION in name for name in told), told
        assert any(name.startswith("Assistant") and ANSWER.strip() in name for name in told), told
        card = next(one for one in items(program) if "the web pages of this chat" in one.name)
        assert {"expandable", "collapsed"} <= card.states
        assert "expanded" not in card.states
        # What a screen reader was given ends in order, too.
        running.send(signal.SIGTERM)
        assert running.finish().status == 0
