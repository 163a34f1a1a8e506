"""Adding a provider as a person does: pick, paste, test; what went wrong in plain words; the key nowhere."""

import asyncio
import time
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton

from app.core import catalog
from app.gui.dialogs.connect_dialogs import ConnectDialog
from tests import app_driver
from tests.app_driver import at_window
from tests.gui.models import models_of
from tests.gui.seen import saying
from tests.repeats import slow_after
from tests.wire.local_servers import LocalFake
from tests.wire.replies import Answer, Fault
from tests.wire.server import WireServer

until = partial(app_driver.until, seconds=60.0)


@pytest.fixture
async def person(qapp, data_dir, monkeypatch):
    monkeypatch.setattr(catalog, "LOCAL_SERVERS", ())
    async with at_window(data_dir) as person:
        yield person
        for dialog in person.window.findChildren(ConnectDialog):
            dialog.reject()


def at_wire(monkeypatch, server: WireServer, kind: str = "") -> None:
    """Let a provider of the catalogue be at a wire server."""
    rows = tuple(
        replace(row, base_url=server.address) if row.kind == (kind or server.kind) else row
        for row in catalog.KINDS
    )
    monkeypatch.setattr(catalog, "KINDS", rows)


def status(person, provider: str):
    return next(one for one in person.window.controller.engine.providers() if one.config.id == provider)


def everything_shown(person) -> str:
    """Return every text on the screen."""
    return "\n".join(
        one.text() for root in QApplication.topLevelWidgets() for one in root.findChildren(QLabel)
    )


async def open_dialog(person):
    await person.click("first_connect")
    await until(lambda: person.sees("connect_dialog"))
    return person.find("connect_dialog", ConnectDialog)


async def answered(dialog) -> str:
    await until(lambda: dialog.answer.property("kind") in ("ok", "warn", "error"))
    return dialog.answer.text()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", slow_after(1, [("anthropic",), ("openai",), ("gemini",)]))
async def test_a_key_is_pasted_tested_and_the_provider_ready(kind, person, monkeypatch, data_dir):
    prefixes = {"openai": "sk-proj-", "anthropic": "sk-ant-api03-", "gemini": "AIzaSy"}
    key = prefixes[kind] + "canary0123456789"
    with WireServer(kind, key=key) as server:
        at_wire(monkeypatch, server)
        began = time.monotonic()
        dialog = await open_dialog(person)
        await until(dialog.key.hasFocus)
        assert dialog.key.echoMode() == QLineEdit.EchoMode.Password
        dialog.key.setText(f"  {key}\n")
        assert dialog.key.text() == key
        assert person.find(f"connect_{kind}").isChecked(), "the key says whose it is"
        await person.press("connect_key", Qt.Key.Key_Return)
        said = await answered(dialog)
        took = time.monotonic() - began
        assert f"{server.model} answered" in said, said
        assert dialog.answer.property("kind") == "ok" and "forgotten" not in said
        warned = person.find("connect_kept", QLabel)
        assert "forgotten when Moot closes" in warned.text(), "there is no keyring here"
        assert warned.property("kind") == "warn" and warned.isVisible()
        assert status(person, kind).ready
        assert status(person, kind).default_model == server.model
        await person.click("connect_go")
        await until(lambda: not person.sees("connect_dialog"))
        seats = {
            card.candidate.participant.id: card for card in person.window.controller.panel.setup.seats.cards
        }
        assert seats[kind].candidate.status.ready
        assert took < 30
        assert not [one.refused for one in server.requests if one.refused]
        assert len(server.requests) == 1, "one model was asked, once"
    assert key not in everything_shown(person)
    for file in data_dir.rglob("*"):
        if file.is_file():
            assert key.encode() not in file.read_bytes(), file


@pytest.mark.timeout(180)
async def test_a_wrong_key_is_said_to_be_wrong_and_nothing_is_kept(person, monkeypatch):
    with WireServer("openai", key="sk-right-0123456789") as server:
        at_wire(monkeypatch, server)
        before = person.window.controller.engine.providers()
        dialog = await open_dialog(person)
        await person.write("connect_key", "sk-wrong-canary-0123456789")
        await person.click("connect_go")
        await until(lambda: not dialog.go.isEnabled())
        assert dialog.key.hasFocus(), "Enter and Space do nothing while it is tried"
        said = await answered(dialog)
        assert said.startswith("The provider does not accept the key")
        assert "sk-wrong" not in said and "canary" not in said
        assert not person.sees("connect_anyway")
        assert person.window.controller.engine.providers() == before
        # The key is selected: the right one is pasted over it.
        await until(lambda: dialog.key.hasFocus() and dialog.key.selectedText())
        await person.write("connect_key", server.key)
        await person.click("connect_go")
        assert "answered" in await answered(dialog)


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("fault", "words"),
    slow_after(1, [("quota429", "no credit left"), ("rate429", "Rate-limited"), ("e529", "overloaded")]),
)
async def test_a_good_key_that_cannot_be_used_now_may_be_kept_anyway(fault, words, person, monkeypatch):
    with WireServer("openai") as server:
        at_wire(monkeypatch, server)
        server.script(server.model, [Fault(fault)] * 5)
        dialog = await open_dialog(person)
        await person.write("connect_key", server.key)
        await person.click("connect_go")
        said = await answered(dialog)
        assert words in said and said.splitlines()[1].startswith("OpenAI’s message: ")
        assert not status(person, "openai").ready
        await person.click("connect_anyway")
        await until(lambda: not person.sees("connect_dialog"))
        assert status(person, "openai").ready


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_server_that_is_not_there_is_said_in_words(person):
    dialog = await open_dialog(person)
    await person.click("connect_openai-compatible")
    await person.click("connect_go")
    await until(lambda: dialog.answer.property("kind") == "error")
    await until(dialog.address.hasFocus)
    await person.write("connect_address", "http://127.0.0.1:9")
    assert dialog.answer.text() == ""
    await person.click("connect_go")
    assert "Could not reach" in await answered(dialog)
    await until(lambda: dialog.address.hasFocus() and dialog.address.selectedText())
    await person.click("connect_cancel")
    assert all(
        one.config.base_url != "http://127.0.0.1:9" for one in person.window.controller.engine.providers()
    )


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_one_that_never_answers_can_be_left(person, monkeypatch):
    with WireServer("openai") as server:
        at_wire(monkeypatch, server)
        server.script(server.model, [Fault("noheaders")] * 3)
        dialog = await open_dialog(person)
        await person.write("connect_key", server.key)
        await person.click("connect_go")
        await until(lambda: server.requests)
        await until(lambda: "Contacting OpenAI" in dialog.answer.text())
        await person.press("connect_dialog", Qt.Key.Key_Escape)
        await until(lambda: server.requests[0].closed_at is not None)
        assert not status(person, "openai").ready


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_another_server_is_added_under_its_address_with_all_its_models(person):
    with WireServer("openai-compatible", key="any-key-0123456789", models=("a", "b", "c")) as server:
        dialog = await open_dialog(person)
        await person.click("connect_openai-compatible")
        await person.write("connect_address", server.address.removesuffix("/v1"))
        await person.write("connect_key", "another-key-0123456789")
        await person.click("connect_go")
        place = server.address.removeprefix("http://").removesuffix("/v1")
        assert f"{place}’s message: " in await answered(dialog), "by its name, not by its id"
        await until(lambda: dialog.key.hasFocus() and dialog.key.selectedText())
        await person.write("connect_key", server.key)
        await person.click("connect_go")
        assert "answered" in await answered(dialog)
        (added,) = [one for one in person.window.controller.engine.providers() if one.label == place]
        assert added.ready and added.models == ("a", "b", "c")


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_provider_is_found_by_its_name_and_added(person, monkeypatch):
    key = "sk-or-v1-canary0123456789"
    with WireServer("openai", key=key, models=("anthropic/claude-sonnet-4.5", "openai/gpt-4.1")) as server:
        at_wire(monkeypatch, server, "openrouter")
        dialog = await open_dialog(person)
        await person.write("connect_search", "router")
        assert person.find("connect_openrouter").isChecked()
        assert person.sees("connect_openrouter") and not person.sees("connect_openai")
        assert saying(dialog, "openrouter.ai")
        await person.write("connect_search", "")
        await until(lambda: person.sees("connect_openai"))
        dialog.key.setText(key)
        await person.press("connect_key", Qt.Key.Key_Return)
        assert "anthropic/claude-sonnet-4.5 answered" in await answered(dialog)
        assert status(person, "openrouter").ready
        assert status(person, "openrouter").label == "OpenRouter"
        await person.click("connect_go")
    assert key not in everything_shown(person)


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_azure_is_asked_for_the_deployment_at_the_users_own_address(person):
    with WireServer("azure", key="azure-canary-0123456789", models=("my-gpt",)) as server:
        dialog = await open_dialog(person)
        await person.click("connect_azure")
        assert "NAME.openai.azure.com" in dialog.address.placeholderText()
        await person.write("connect_key", server.key)
        await person.click("connect_go")
        await until(lambda: dialog.answer.property("kind") == "error")
        assert not server.requests
        await person.write("connect_address", server.address.removesuffix("/openai/v1"))
        await person.write("connect_model", "my-gpt")
        await person.click("connect_go")
        assert "my-gpt answered" in await answered(dialog)
        (added,) = [one for one in person.window.controller.engine.providers() if one.config.kind == "azure"]
        assert added.ready and added.models == ("my-gpt",)


@pytest.mark.slow
async def test_a_server_of_a_known_kind_needs_no_address_and_no_key(person):
    dialog = await open_dialog(person)
    await person.write("connect_search", "vllm")
    assert person.find("connect_vllm").isChecked()
    assert "http://127.0.0.1:8000/v1" in dialog.address.placeholderText()
    await person.click("connect_go")
    await until(lambda: dialog.answer.property("kind") == "error")
    assert "vLLM" in person.find("connect_vllm").text() and person.find("connect_vllm").isChecked()


@pytest.mark.slow
async def test_a_key_chooses_its_provider_also_behind_a_search(person):
    dialog = await open_dialog(person)
    await person.write("connect_search", "gemini")
    assert person.find("connect_gemini").isChecked()
    dialog.key.setText("sk-or-v1-canary0123456789")
    assert person.find("connect_openrouter").isChecked() and dialog.search.text() == ""


@pytest.mark.slow
async def test_a_key_is_not_taken_along_to_another_provider(person):
    dialog = await open_dialog(person)
    await person.write("connect_key", "sk-ant-canary-0123456789")
    assert person.find("connect_anthropic").isChecked()
    assert "Anthropic" in dialog.answer.text()
    await person.click("connect_openai-compatible")
    assert dialog.key.text() == ""


@pytest.mark.slow
async def test_where_to_get_a_key_is_copied_or_opened_after_asking(person):
    await open_dialog(person)
    await person.click("connect_copy")
    assert QApplication.clipboard().text() == "https://platform.openai.com/api-keys"
    await person.click("connect_open")
    await until(lambda: person.sees("link_dialog"))
    assert person.find("link_host").text() == "platform.openai.com"
    await person.click("link_cancel")


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_server_that_was_found_and_wants_its_key(qapp, data_dir, monkeypatch):
    with (
        WireServer("openai-compatible", key="jan-key-0123456789") as wire,
        LocalFake("Jan", key="jan-key-0123456789") as jan,
    ):
        monkeypatch.setattr(catalog, "LOCAL_SERVERS", (jan.row,))
        async with at_window(data_dir) as person:
            await until(lambda: person.sees("first_offer_0"))
            await person.click("first_offer_0_accept")
            await until(lambda: person.sees("connect_dialog"))
            dialog = person.find("connect_dialog", ConnectDialog)
            assert dialog._server is not None and dialog._server.name == "Jan"
            # The stand-in lists only; a server that also answers takes its place.
            dialog._servers[jan.address] = replace(dialog._server, address=wire.address)
            await person.write("connect_key", wire.key)
            await person.click("connect_go")
            assert "answered" in await answered(dialog)
            assert status(person, "jan").label == "Jan"
            dialog.accept()


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_what_asks_is_made_ready_while_the_dialog_is_open_and_no_wait_for_it_is_the_providers(
    person, monkeypatch
):
    desk, gate = person.window.controller, asyncio.Event()
    warm = desk.engine.connections.warm

    async def held() -> None:
        await warm()
        await gate.wait()

    monkeypatch.setattr(desk.engine.connections, "warm", held)
    with WireServer("openai", key="sk-proj-canary0123456789") as server:
        at_wire(monkeypatch, server)
        server.script(server.model, [Answer("Ready.", delay=2.0)])
        dialog = await open_dialog(person)
        await until(lambda: models_of(desk.engine).host_pid is not None)
        dialog.key.setText(server.key)
        await person.click("connect_go")
        await until(lambda: dialog.answer.text().startswith("Getting ready"))
        gate.set()
        await until(lambda: dialog.answer.text().startswith("Contacting OpenAI"))
        assert f"{server.model} answered" in await answered(dialog)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("compatible", {"connect_openai-compatible"}),
        ("ollama", {"connect_ollama"}),
        ("OpenAI", {"connect_openai", "connect_azure", "connect_openai-compatible"}),
        ("nobody has this name", {"connect_openai-compatible"}),
    ],
)
async def test_what_is_searched_for_is_chosen_and_nothing_hidden_is(typed, shown, person):
    dialog = await open_dialog(person)
    await person.write("connect_key", "sk-ant-canary-0123456789")
    await person.write("connect_search", typed)
    cards = [item for item in dialog.findChildren(QPushButton) if item.isCheckable()]
    assert {item.objectName() for item in cards if item.isVisible()} == shown
    (chosen,) = [item for item in cards if item.isChecked()]
    assert chosen.isVisible()
    assert dialog.key.text() == "", "a key stays with its provider"
    await person.write("connect_search", "")
    assert chosen.isChecked() and person.sees("connect_openai")


async def test_what_is_typed_after_a_provider_was_chosen_is_in_its_first_field(person):
    dialog = await open_dialog(person)
    await person.click("connect_openai-compatible")
    assert dialog.address.hasFocus()
    await person.click("connect_anthropic")
    assert dialog.key.hasFocus()
    card = person.find("connect_openai-compatible", QPushButton)
    card.setFocus()
    await person.press("connect_openai-compatible", Qt.Key.Key_Space)
    assert card.hasFocus() and card.isChecked(), "the keyboard goes on from one to the next"
    QTest.keyClicks(card, "1")
    QTest.keyClicks(dialog.address, "27.0.0.1")
    assert dialog.address.text() == "127.0.0.1"
    card.setFocus()
    QApplication.clipboard().setText(":8941")
    QTest.keySequence(card, QKeySequence.StandardKey.Paste)
    assert dialog.address.text() == "127.0.0.1:8941"
