"""Models on this computer in the settings: downloaded with progress, paused, resumed, and chosen for debates."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QProgressBar

from app.core.catalog import LOCAL
from app.providers.model_file import find_model
from tests.app_driver import at_window, until
from tests.desktop.desktops import BUS_ADDRESS
from tests.desktop.desktops import desktop as screen_of_its_own
from tests.gui.models import models_of
from tests.providers.test_metered_connection import network_manager
from tests.wire.hub import catalogue_entry, hub

_FILE = find_model()
pytestmark = pytest.mark.skipif(_FILE is None, reason="the built-in model is not there")


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_a_model_is_downloaded_paused_resumed_and_debates(qapp, data_dir: Path, tmp_path: Path) -> None:
    content = _FILE.read_bytes()
    with hub(content) as served:
        entry = catalogue_entry("tiny", served)
        catalogue = tmp_path / "catalogue.json"
        catalogue.write_text(
            json.dumps([entry, entry | {"id": "huge", "name": "Huge", "computer_gb": 9_000}])
        )
        async with at_window(data_dir, catalogue=catalogue) as person:
            window = person.window
            await person.click("first_better_model")
            dialog = person.find("settings_page")
            page = dialog.page("local")
            await until(lambda: len(page.cards) == 3)
            tiny, huge = page.cards["tiny"], page.cards["huge"]
            assert "needs a computer with 1 GB" in tiny.facts.text() and "MIT" in tiny.facts.text()
            assert tiny.about.text() == "A good one. Not yet tested with Moot."
            assert not huge.isEnabled() and "too small" in huge.state.text()

            page.source.setText(f"{served.address}/slow")
            page.source.editingFinished.emit()
            await until(lambda: window.controller.settings.current().model_source)
            QTest.mouseClick(tiny.buttons["get"], Qt.MouseButton.LeftButton)
            bar = tiny.findChild(QProgressBar)
            await until(lambda: bar.isVisible() and bar.value() > 0, 30)
            assert "B/s" in tiny.state.text()
            assert sorted(what for what, one in tiny.buttons.items() if one.isVisible()) == ["pause"]
            QTest.mouseClick(tiny.buttons["pause"], Qt.MouseButton.LeftButton)
            await until(lambda: tiny.state.text().startswith("Paused at "))
            assert tiny.buttons["get"].text() == "Resume"

            page.source.setText(f"{served.address}/ok")
            page.source.editingFinished.emit()
            await until(lambda: window.controller.settings.current().model_source.endswith("/ok"))
            QTest.mouseClick(tiny.buttons["get"], Qt.MouseButton.LeftButton)
            await until(lambda: tiny.state.text() == "Installed", 60)
            assert served.ranges[-1].startswith("bytes=")
            assert "Before this model votes for the first time" in tiny.about.text()
            # The small model chooses by the place of an option.
            QTest.mouseClick(tiny.buttons["check"], Qt.MouseButton.LeftButton)
            await until(lambda: "does not vote or judge" in tiny.about.text(), 120)
            # A better one that takes broken premises for true votes.
            models = models_of(window.controller.engine)
            models.note_stable(LOCAL, "tiny", 8, "r" * 16 + "w" * 3 + "r" * 5, "")
            page.refresh()
            said = "Votes, but breaks no ties: missed 3 of 8 false premises."
            await until(lambda: said in tiny.about.text())
            person.find("settings_close").click()

            # It takes the place of the built-in model in debates.
            engine = window.controller.engine
            chosen = [one.participant for one in engine.debates.candidates() if one.chosen]
            assert [(one.provider, one.model) for one in chosen] == [(LOCAL, "tiny")] * 2
            assert not person.sees("first_better_model")


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_a_metered_connection_and_too_little_memory_are_asked_about(
    qapp, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = tmp_path / "catalogue.json"
    with hub(bytes(1_000_000)) as served, screen_of_its_own() as screen:
        catalogue.write_text(json.dumps([catalogue_entry("tiny", served, memory=10**15)]))
        screen.start_bus()
        address = screen.environment[BUS_ADDRESS]
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
        async with network_manager(address, 1), at_window(data_dir, catalogue=catalogue) as person:
            engine = person.window.controller.engine
            await engine.change_settings(
                lambda settings: replace(settings, model_source=f"{served.address}/ok")
            )
            person.window.controller.settings.open("local")
            dialog = person.find("settings_page")
            page = dialog.page("local")
            await until(lambda: "tiny" in page.cards)
            card = page.cards["tiny"]
            for choice in ("confirm_cancel", "confirm_agree"):
                QTest.mouseClick(card.buttons["get"], Qt.MouseButton.LeftButton)
                await until(lambda: person.sees("confirm_dialog"))
                assert not served.asked
                await person.click(choice)
            await until(lambda: "is available for models" in card.state.text(), 60)
            assert "1000000 GB" in card.state.text()
            QTest.mouseClick(card.buttons["anyway"], Qt.MouseButton.LeftButton)
            await until(lambda: person.sees("confirm_dialog"))
            await person.click("confirm_agree")
            await until(lambda: card.state.text() == "Installed")
            assert not card.buttons["anyway"].isVisible()
            person.find("settings_close").click()


async def test_a_wrong_file_of_ones_own_is_explained(qapp, data_dir: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"nothing")
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("local")
        dialog = person.find("settings_page")
        page = dialog.page("local")
        page.add_file(bad)
        await until(lambda: "not a GGUF model" in page.result.text())
        await asyncio.sleep(0)
        assert page.add.isEnabled()
        person.find("settings_close").click()
