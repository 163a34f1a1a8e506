"""Secrets that a form of an MCP server asks for: they reach the server, and are written nowhere.

A real server asks while its tool runs; the form is answered in the window and in the terminal.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QToolButton

from app.cli.arguments import parse_arguments
from app.cli.commands.sessions import run_command
from app.cli.control import hand_over
from app.cli.printing.lines import load_texts
from app.core.definitions import Agent
from app.core.errors import BadInput
from app.core.message import Message, PromptType, Role
from app.engine.engine import Engine
from app.gui.widgets.question_card import FormCard
from app.storage.paths import DataPaths
from app.wiring import Moot, open_moot
from tests.app_driver import at_window, until
from tests.asked import Answers
from tests.repeats import slow_after
from tests.split_hosts import loaded_tool_host, own_host, split_tool_hosts  # noqa: F401
from tests.stories.test_server_secrets import written
from tests.tools.serving import allow, rude
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

CANARY, OTHER = 'canary-Xy7;"pq=Lz', "canary-second-4Tg"
KEPT = {"user": ["Ada"], "unlock": ["(hidden)"], "token": ["(hidden)"]}
pytestmark = [pytest.mark.threat("T13"), pytest.mark.timeout(240)]


def script(request: Recorded) -> Answer:
    called = any(message.role == "tool" for message in request.messages)
    return Answer("Done.") if called else Answer(calls=(WireCall("asks__add"),))


async def furnish(engine: Engine, server: WireServer) -> None:
    """Save a server that asks for secrets and an assistant that has it."""
    server.script("openai-wire", script)
    await engine.servers.save((rude("asks", "secret"),))
    await allow(engine, "asks")
    agent = Agent(id="ann", name="Ann", provider="openai", model="openai-wire", mcp_servers=("asks",))
    await engine.assistants.save(agent)


async def form_of(engine: Engine, session_id: str) -> Message:
    """Allow the call, and return the form that the server then puts to the user."""
    await until(lambda: engine.chats.needs_you(), what="the approval")
    [(_, approval)] = engine.chats.needs_you()
    await engine.chats.answer(session_id, approval.id, "allow")

    def forms() -> list[Message]:
        waiting = [question for _, question in engine.chats.needs_you()]
        return [one for one in waiting if one.prompt and one.prompt.type == PromptType.FORM]

    await until(forms, what="the form")
    return forms()[0]


async def check(
    engine: Engine, session_id: str, question_id: str, data_dir: Path, server: WireServer, **given: str
) -> None:
    """Check that the server got these values, and that none of the secrets is anywhere else."""
    await engine.wait(session_id)
    live = await engine.open(session_id)
    [result] = [one for one in live.messages if one.role == Role.TOOL and one.prompt is None]
    got = {name: hashlib.sha256(value.encode()).hexdigest() for name, value in given.items()}
    assert json.loads(result.content) == got
    question = live.turns.messages[question_id]
    assert question.prompt is not None
    assert json.loads(question.prompt.answer) == {name: KEPT[name] if name in given else [] for name in KEPT}
    [said] = [one for one in live.messages if one.answers == question_id]
    assert said.content.splitlines()[:2] == ["user: Ada", "Vault: (hidden)"]
    assert live.hidden_answers == {}
    exported = [await engine.export(session_id, form) for form in ("md", "html", "json")]
    await engine.archive.back_up()
    found = [name for name, text in written(data_dir.parent) if hidden_in(text)]
    assert (found, [text for text in exported if hidden_in(text)]) == ([], [])
    assert not any(hidden_in(json.dumps(one.body)) for one in server.requests)


def hidden_in(text: str) -> bool:
    return any(part in text for part in ("canary-Xy7", "pq=Lz", OTHER, "a-default"))


@pytest.fixture
async def moot(data_dir: Path, wire_home: dict[str, WireServer]) -> AsyncIterator[Moot]:
    moot = await open_moot(data_dir)
    await furnish(moot.engine, wire_home["openai"])
    yield moot
    await moot.close()


async def test_a_password_is_typed_hidden_in_the_window(
    qapp: object, data_dir: Path, wire_home: dict[str, WireServer]
) -> None:
    async with at_window(data_dir) as person:
        person.window.activateWindow()
        engine = person.window.controller.engine
        await furnish(engine, wire_home["openai"])
        person.window.controller.show_new("ann")
        await person.write("composer", "Add them.")
        await person.press("composer", Qt.Key.Key_Return)
        page = person.window.controller.chat_page
        await until(lambda: page.session, what="the session")
        question = await form_of(engine, page.session_id)
        await until(lambda: person.sees("form_reveal"), what="the card")
        [card] = [one for one in person.window.findChildren(FormCard) if one.isVisible()]
        warnings = [one.text() for one in card.findChildren(QLabel) if one.property("kind") == "warn"]
        assert len(warnings) == 1
        assert "“asks” asks for a password" in warnings[0]
        user, unlock, token = card.findChildren(QLineEdit)
        assert [one.echoMode() for one in (user, unlock, token)] == [
            QLineEdit.EchoMode.Normal,
            QLineEdit.EchoMode.Password,
            QLineEdit.EchoMode.Password,
        ]
        reveal = card.findChildren(QToolButton)[0]
        QTest.mouseClick(reveal, Qt.MouseButton.LeftButton)
        assert (unlock.echoMode(), reveal.accessibleName()) == (
            QLineEdit.EchoMode.Normal,
            "Hide what you type",
        )
        QTest.mouseClick(reveal, Qt.MouseButton.LeftButton)
        assert (unlock.echoMode(), token.text()) == (QLineEdit.EchoMode.Password, "")
        for line, text in ((user, "Ada"), (unlock, CANARY), (token, OTHER)):
            line.setText(text)
        draft = DataPaths(data_dir).draft(page.session_id)
        await until(lambda: draft.exists() and "Ada" in draft.read_text("utf-8"), what="the draft")
        # The values are hidden from the draft, and showing the draft again leaves them.
        assert "unlock" not in draft.read_text("utf-8")
        page.cards.write({question.id: json.dumps({"user": ["Eve"]})})
        assert (user.text(), unlock.text()) == ("Eve", CANARY)
        user.setText("Ada")
        await person.settle(0.6)
        QTest.keyClick(token, Qt.Key.Key_Return)
        await until(lambda: page.session.status == "idle", what="the answer")
        [shown] = [one for one in person.transcript("transcript") if "A few things first" in one]
        assert shown.endswith("user: Ada\nVault: (hidden)\ntoken: (hidden)")
        given = {"user": "Ada", "unlock": CANARY, "token": OTHER}
        await check(engine, page.session_id, question.id, data_dir, wire_home["openai"], **given)


@pytest.mark.parametrize("language", slow_after(1, [("en",), ("ko",)]))
async def test_a_password_is_typed_hidden_in_the_terminal(
    moot: Moot, data_dir: Path, wire_home: dict[str, WireServer], language: str
) -> None:
    session_id = await moot.engine.chats.start("ann", "Add them.")
    question = await form_of(moot.engine, session_id)
    words = load_texts(language)
    shown = Answers()
    show = parse_arguments(["--lang", language, "show", session_id], words)
    assert await run_command(moot, show, shown, asyncio.Event()) == 0
    warning = words("form.secret", server="asks")
    hidden = words("cli.form.hidden")
    for line in ("  user= user", f"  unlock= Vault ({hidden})", f"  token= token ({hidden})", f"  {warning}"):
        assert line in shown.out.splitlines()
    assert words("cli.answer_with", session_id=session_id, answer="user=…") in shown.out
    reply = parse_arguments(["--lang", language, "reply", session_id, "user=Ada"], words)
    gave_up = Answers(None)
    with pytest.raises(BadInput, match="form_unfit"):
        await run_command(moot, reply, gave_up, asyncio.Event())
    assert moot.engine.chats.needs_you()
    typed = Answers(CANARY, "")
    assert await run_command(moot, reply, typed, asyncio.Event()) == 0
    assert typed.questions == [("Vault: ", True), ("token: ", True)]
    assert typed.err == [warning]
    assert not hidden_in(typed.out)
    await check(
        moot.engine, session_id, question.id, data_dir, wire_home["openai"], user="Ada", unlock=CANARY
    )


@pytest.mark.slow
async def test_a_password_on_the_command_line_is_not_asked_for_again(
    moot: Moot, data_dir: Path, wire_home: dict[str, WireServer]
) -> None:
    session_id = await moot.engine.chats.start("ann", "Add them.")
    question = await form_of(moot.engine, session_id)
    text = json.dumps({"user": "Ada", "Vault": CANARY, "token": ""})
    typed = Answers()
    reply = parse_arguments(["reply", session_id, text], load_texts("en"))
    assert await run_command(moot, reply, typed, asyncio.Event()) == 0
    assert (typed.questions, hidden_in(typed.out + "".join(typed.err))) == ([], False)
    await check(
        moot.engine, session_id, question.id, data_dir, wire_home["openai"], user="Ada", unlock=CANARY
    )


@pytest.mark.slow
async def test_a_password_is_typed_where_the_command_was_typed(
    qapp: object, data_dir: Path, wire_home: dict[str, WireServer]
) -> None:
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        await furnish(engine, wire_home["openai"])
        session_id = await engine.chats.start("ann", "Add them.")
        question = await form_of(engine, session_id)
        typed = Answers(CANARY, OTHER)
        reply = parse_arguments(["reply", session_id, "user=Ada", "--json"], load_texts("en"))
        # A script is asked nothing.
        assert await hand_over(DataPaths(data_dir).control, reply, typed, asyncio.Event()) == 2
        reply = parse_arguments(["reply", session_id, "user=Ada"], load_texts("en"))
        assert await hand_over(DataPaths(data_dir).control, reply, typed, asyncio.Event()) == 0
        assert typed.questions == [("Vault: ", True), ("token: ", True)]
        given = {"user": "Ada", "unlock": CANARY, "token": OTHER}
        await check(engine, session_id, question.id, data_dir, wire_home["openai"], **given)
