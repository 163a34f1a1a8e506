"""External agents in the settings: added after their command line was shown, tried without a question, and denied again."""

import asyncio
import shlex
import sys

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit

from tests.app_driver import at_window, until
from tests.gui.seen import inside
from tests.gui.test_settings_view import page
from tests.providers.external import AGENT, told


@pytest.fixture
async def person(qapp, data_dir, request):
    language, theme = getattr(request, "param", ("en", "light"))
    async with at_window(data_dir, language=language, theme=theme) as person:
        person.window.controller.settings.open("providers", "openai")
        await until(lambda: person.sees("settings_page"))
        yield person
        if person.sees("settings_page"):
            person.find("settings_close").click()


def agents(person):
    return [one for one in person.window.controller.engine.providers() if one.config.kind == "program"]


async def add(person, does, journal):
    """Type the command of a tiny agent, and agree to it."""
    line = shlex.join([sys.executable, str(AGENT), f"--{does}", f"--journal={journal}"])
    await person.click("settings_add_agent")
    await until(lambda: person.sees("agent_dialog"))
    await person.write("agent_line", line)
    await person.click("agent_add")
    await until(lambda: person.sees("agent_consent_dialog"))
    assert person.find("agent_consent_line", QPlainTextEdit).toPlainText() == line
    assert not agents(person)


@pytest.mark.slow
async def test_an_agent_is_added_tried_and_denied(person, tmp_path):
    await add(person, "say", tmp_path / "journal")
    await person.click("agent_consent_allow")
    await until(lambda: [one.ready for one in agents(person)] == [True])
    await until(lambda: page(person).provider_id == agents(person)[0].config.id)
    assert not page(person).key.isVisible() and not page(person).base_url.isVisible()
    inside(page(person), "provider_test").click()
    await until(lambda: "Models: small, large" in page(person).result.text())
    assert await asyncio.to_thread(told, tmp_path / "journal", "prompt") == []
    inside(page(person), "provider_deny").click()
    await until(lambda: [one.problem for one in agents(person)] == ["not_allowed"])
    inside(page(person), "provider_allow").click()
    await until(lambda: person.sees("agent_consent_dialog"))
    await person.click("agent_consent_allow")
    await until(lambda: [one.ready for one in agents(person)] == [True])


async def test_what_is_refused_is_neither_saved_nor_started(person, tmp_path):
    await add(person, "say", tmp_path / "journal")
    await person.click("agent_consent_refuse")
    await until(lambda: not person.sees("agent_consent_dialog"))
    assert not agents(person) and not (tmp_path / "journal").exists()


@pytest.mark.slow
async def test_the_command_to_sign_in_can_be_copied(person, data_dir, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, str(AGENT), '--auth-new'])}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    await person.click("settings_add_agent")
    await until(lambda: person.sees("agent_dialog"))
    await person.click("agent_use_gemini")
    await person.click("agent_add")
    await person.click("agent_consent_allow")
    await until(lambda: page(person).provider_id == "gemini-cli")
    inside(page(person), "provider_test").click()
    await until(lambda: "not signed in" in page(person).result.text())
    inside(page(person), "provider_copy_login").click()
    assert QGuiApplication.clipboard().text() == "gemini"
