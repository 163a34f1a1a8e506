"""A new user's walk through the real program, once with the mouse alone and once with the keyboard alone.

Nothing is set up before: the data directory is empty. Every click and key goes through the X server.
"""

import json
import os
import signal
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.desktop.desktops import missing as lacking
from tests.desktop.desktops import wait
from tests.desktop.user import KeyboardUser, MouseUser
from tests.screen_reader import desktop, missing
from tests.stories.processes import Running
from tests.wire import Answer, Fault, WireServer

NEEDED = missing() or lacking("xdotool", "xclip", "openbox")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.desktop,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(NEEDED), reason=NEEDED),
]
TOPIC = "Should the library open on Sundays?"
SAID = "Please think of those who work there."
FOLLOWS = "Open it on two Sundays a month."


@pytest.fixture
def server():
    with WireServer("openai-compatible", models=("alpha", "beta", "gamma")) as server:
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


@pytest.fixture(params=[MouseUser, KeyboardUser], ids=["mouse", "keyboard"])
def user(request, opened):
    with desktop("openbox", "--sm-disable") as (bus, environment):
        environment = os.environ | environment
        environment["PATH"] = f"{opened[0]}:{environment['PATH']}"
        with Running("--lang", "en", environment=environment) as running:
            user = request.param(bus, environment)
            user.finds("Ask anything", "text")
            yield user
            running.send(signal.SIGTERM)
            assert running.finish().status == 0


def add_provider(user, server):
    user.uses("Add a provider", "push button")
    user.uses("Another server")
    user.writes("Address", server.address)
    user.writes("Key", server.key)
    user.uses("Test and add")
    user.uses("Done")


def test_a_debate_from_its_models_to_the_exported_file(user, server, opened):
    verdict = {"answer": [{"text": FOLLOWS, "cites": [1]}], "agreed": [], "open": []}

    def argues(request):
        if "You judge a debate" in json.dumps(request.body):
            return json.dumps(verdict)
        return Answer("Sundays are when people have time. " * 6, pace=0.1)

    server.script("alpha", argues)
    server.script("gamma", lambda _request: Fault("rate429", retry_after=3600))
    add_provider(user, server)
    # The provider's first two models are suggested; another one is chosen.
    user.uses("Debate", "check box", inside="What to start")
    user.reads("alpha, beta")
    user.writes("Enter a topic", TOPIC)
    user.uses("Change…")
    user.uses("Model of beta")
    user.uses("gamma", "list item")
    user.uses("End with a verdict by")
    user.uses("Start with 2 participants")
    # A participant fails, its turn is skipped, and the user steps in.
    user.finds("Skip this turn")
    user.writes("Write to everyone", SAID)
    user.uses("Send", "push button")
    user.reads(SAID)
    user.uses("Skip this turn")
    for _round in range(2):
        user.uses("Skip this turn")
    user.reads(FOLLOWS)
    # The file is opened where its saving is told.
    user.uses("Export", "push button")
    user.uses("Markdown", "menu item")
    user.uses("Save")
    user.uses("Open", "push button")
    [path] = wait(lambda: opened[1].exists() and opened[1].read_text().split(), "the file to be opened")
    text = Path(unquote(urlsplit(path).path)).read_text("utf-8")
    assert TOPIC in text
    assert SAID in text
    assert FOLLOWS in text
