"""The window with a `providers.json` of which an entry can’t be read: it says so, and asks nobody instead."""

import json

from app.gui.widgets.item_list import ItemList
from tests.app_driver import at_window, until
from tests.gui.seen import inside

ROWS = [
    {"id": "openai", "kind": "openai", "base_url": 7},
    {"id": "work", "kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "models": ["m"]},
]


async def test_the_settings_name_the_entry_and_nothing_starts(qapp, data_dir, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    data_dir.mkdir(exist_ok=True)
    (data_dir / "providers.json").write_text(json.dumps({"providers": ROWS}, indent=1), encoding="utf-8")
    async with at_window(data_dir) as person:
        desk = person.window.controller
        await until(lambda: person.sees("toast"))
        assert "providers.json:6" in person.find("toast").text
        desk.settings.open("providers", "openai")
        await until(lambda: person.sees("settings_page"))
        rows = person.find("settings_providers", ItemList)
        assert "entry can’t be read" in rows.item(0).text
        dialog = person.find("settings_page")
        page = dialog.page("providers").page()
        inside(page, "provider_save").click()
        await until(lambda: "providers.json:6" in page.result.text())
        person.find("settings_close").click()
