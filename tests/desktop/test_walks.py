"""A new user's walk through the real program, once with the mouse alone and once with the keyboard alone.

Nothing is set up before: the data directory is empty. Every click and key goes through the X server.
"""

import json
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.desktop.desktops import missing as lacking
from tests.desktop.desktops import wait
from tests.desktop.user import KeyboardUser, MouseUser
from tests.screen_reader import desktop, missing
from tests.stories.processes import Running
from tests.wire import Answer, Fault, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

NEEDED = missing() or lacking("xdotool", "xclip", "openbox")
pytestmark = [pytest.mark.timeout(600), pytest.mark.skipif(bool(NEEDED), reason=NEEDED)]
TOPIC = "Should the library open on Sundays?"
SAID = "Please think of those who work there."
FOLLOWS = "Open it on two Sundays a month."
SERVER = Path(__file__).parents[1] / "tools" / "servers" / "proper.py"


@pytest.fixture
def server():
    with WireServer("openai-compatible", models=("alpha", "beta", "gamma", "delta")) as server:
        yield server


@pytest.fixture
def opened(tmp_path):
    """The place of a program that opens files for the user, and the list of what it opened."""
    folder, opened = tmp_path / "programs", tmp_path / "opened.txt"
    folder.mkdir()
    program = folder / "xdg-open"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" >> {opened}\n')
    program.chmod(0o755)
    return folder, opened


@contextmanager
def at_the_screen(kind, programs):
    with desktop("openbox", "--sm-disable") as (bus, environment):
        environment = os.environ | environment
        environment["PATH"] = f"{programs}:{environment['PATH']}"
        with Running("--lang", "en", environment=environment) as running:
            user = kind(bus, environment)
            user.finds("Message Assistant", "text")
            # Keys pressed before the window has the keyboard are lost.
            wait(bus.focused, "the keyboard in the window")
            yield user
            running.send(signal.SIGTERM)
            assert running.finish().status == 0


@pytest.fixture(params=[MouseUser, KeyboardUser], ids=["mouse", "keyboard"])
def user(request, opened):
    with at_the_screen(request.param, opened[0]) as user:
        yield user


def test_what_is_typed_on_a_real_screen_is_asked_and_answered(wire_home, tmp_path):  # noqa: F811
    wire_home["openai"].script("openai-wire", ["It is read."])
    with at_the_screen(KeyboardUser, tmp_path) as user:
        user.writes("Message Assistant", "Is this read?")
        user.presses("Return")
        user.reads("It is read.")


def add_provider(user, server):
    user.uses("Add a provider", "push button")
    user.uses("Another server")
    user.writes("Address", server.address)
    user.writes("Key", server.key)
    user.uses("Test and add")
    user.uses("Done")


@pytest.mark.slow
@pytest.mark.desktop
def test_a_debate_from_its_models_to_the_exported_file(user, server, opened):
    def argues(request):
        lines = request.messages[-1].text.splitlines()
        if any('"options"' in line for line in lines):
            return json.dumps({"options": ["Yes", "No"]})
        if letter := next((line[0] for line in lines if line[1:] == ": Yes"), ""):
            case = {"option": letter, "text": FOLLOWS, "cites": [1]}
            chosen = {"choice": letter, "text": "", "confidence": 70, "moved_by": []}
            return json.dumps({**chosen, "cases": [case], "values": False})
        return Answer("Sundays are when people have time. " * 6, pace=0.1)

    for judge in ("alpha", "beta", "gamma"):
        server.script(judge, argues)
    server.script("delta", lambda _request: Fault("rate429", retry_after=3600))
    add_provider(user, server)
    # The server's models of three families are suggested; another one is chosen.
    user.uses("Decide", "check box", inside="What to begin")
    user.finds("alpha takes part")
    user.finds("beta takes part")
    user.finds("gamma takes part")
    user.writes("What do you have to decide?", TOPIC)
    user.uses("How: Answers first")
    user.uses("Round robin", "menu item")
    user.uses("How: Round robin")
    user.uses("More options…", "menu item")
    user.uses("Model of gamma")
    user.uses("delta", "list item")
    user.uses("Start with 3 participants")
    # A participant fails, its turn is skipped, and the user steps in.
    user.finds("Skip this turn")
    user.writes("Write to everyone", SAID)
    user.uses("Send", "push button")
    user.reads(SAID)
    user.uses("Skip this turn")
    for _round in range(2):
        user.uses("Skip this turn")
    # What is offered before a verdict is read is passed by.
    user.uses("Show the verdict", "push button")
    user.reads(FOLLOWS)
    # The file is opened where its saving is told.
    user.uses("More", "push button")
    user.uses("Export", "menu item")
    user.uses("Markdown", "menu item")
    user.uses("Save")
    user.uses("Open", "push button")
    [path] = wait(lambda: opened[1].exists() and opened[1].read_text().split(), "the file to be opened")
    text = Path(unquote(urlsplit(path).path)).read_text("utf-8")
    assert TOPIC in text
    assert SAID in text
    assert FOLLOWS in text


@pytest.mark.slow
@pytest.mark.desktop
def test_an_assistant_with_a_server_that_asks_and_a_message_that_waits(user):
    with WireServer("openai", models=("alpha",)) as server:
        server.script("alpha", _greets)
        add_provider(user, server)
        # A server is added and allowed.
        user.uses("Settings", "push button")
        user.uses("Tools and servers", "list item")
        user.uses("Add an MCP server", "push button")
        user.writes("Name", "greeter")
        user.writes("Command line or address", f"{sys.executable} {SERVER}")
        user.uses("Add", "push button")
        user.uses("Allow…")
        user.uses("Allow", "push button")
        user.reads("connected")
        user.uses("Close")
        # An assistant gets it, and a sub-agent.
        user.uses("Show Team", "check box")
        user.uses("Add an assistant")
        user.uses("New assistant", "menu item")
        user.writes("Name", "Greeter")
        user.uses("Add to: Sub-agents")
        user.uses("Checker", "menu item")
        user.uses("Add to: MCP servers")
        user.uses("greeter", "menu item")
        user.uses("Chat", "push button")
        # Its call is allowed, and what the server asks is answered.
        user.writes("Message Greeter", "Please greet somebody.")
        user.uses("Send", "push button")
        user.uses("Allow once")
        user.writes("Name", "Ada")
        user.uses("Answer", "push button")
        user.reads("Greeted: Hello Ada")
        # What waits for the end of an answer is edited there.
        user.writes("Message Greeter", "Tell me more.")
        user.uses("Send", "push button")
        user.reads("One moment")
        user.writes("Message Greeter", "And in short?")
        user.uses("Send", "push button")
        user.uses("Edit", "push button", inside="Queued: And in short?")
        user.writes("Edit", "And in one word?")
        user.uses("Save", "push button", inside="Queued: And in short?")
        user.reads("You: And in one word?")
        assert server.wait_for(lambda: "And in one word?" in _asked(server), 40)
        assert "And in short?" not in _asked(server)


def _asked(server):
    return [request.messages[-1].text for request in server.requests if request.messages]


def _greets(request):
    last = request.messages[-1]
    if last.role == "tool":
        return f"Greeted: {last.text}"
    if "greet" in last.text:
        return Answer(calls=(WireCall(next(name for name in request.tools if name.endswith("greet"))),))
    return Answer("One moment please. " * 20, pace=0.4) if "more" in last.text else "Hello."
