"""Links of texts: what may be opened at all, what is shown of it before, and that there is one way to open one."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl

from app.gui.dialogs import ask_dialogs
from app.gui.widgets.text import ElidedLabel
from tests.app_driver import at_window, until

GUI = Path(__file__).parents[2] / "app" / "gui"

REFUSED = [
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "file://host/share/x",
    "\\\\host\\share\\x",
    "//host/share/x",
    "smb://host/share",
    "ms-msdt:/id PCWDiagnostic",
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>1</script>",
    "vbscript:msgbox(1)",
    "ssh://host/-oProxyCommand=x",
    "vscode://file/etc/passwd",
    "moot://open/1",
    "x-apple.systempreferences:",
    "/etc/passwd",
    "C:\\Windows\\System32\\calc.exe",
    "http://",
    "https://host/" + "x" * 3_000,
    "",
]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what the system is asked to open, instead of opening it."""
    found: list[str] = []

    class Services:
        @staticmethod
        def openUrl(url: QUrl) -> bool:  # noqa: N802  # Qt's name
            found.append(url.toString())
            return True

    monkeypatch.setattr(ask_dialogs, "QDesktopServices", Services)
    return found


@pytest.mark.slow
@pytest.mark.threat("T8", "T22")
@pytest.mark.corpus(45)
async def test_dangerous_links_are_never_opened(qapp, data_dir: Path, opened: list[str]) -> None:
    async with at_window(data_dir) as person:
        desk = person.window.controller
        for url in REFUSED:
            desk.sessions.open_link(url, "a page")
            await person.settle(0)
            assert not person.sees("link_dialog"), url
            # The way of tools and of servers, after the user's yes.
            assert not await desk.engine.links(url), url
        assert opened == []


@pytest.mark.threat("T8")
@pytest.mark.corpus(46)
async def test_a_link_is_opened_once_after_the_whole_host_was_seen(
    qapp, data_dir: Path, opened: list[str]
) -> None:
    async with at_window(data_dir) as person:
        person.window.controller.sessions.open_link("https://аpple.com/x", "https://apple.com/\u202egnp.x")
        await until(lambda: person.sees("link_dialog"))
        assert person.find("link_host").text() == "xn--pple-43d.com"
        shown = [one.text() for one in person.find("link_dialog").findChildren(ElidedLabel)]
        assert any("⟨U+202E⟩" in text for text in shown)
        assert not any("\u202e" in text for text in shown)
        assert opened == []
        await person.click("link_open")
        assert len(opened) == 1


def _nodes_of_files_with(*names: str) -> Iterator[tuple[Path, ast.AST]]:
    """Yield the syntax nodes of the program's files in which a name occurs; to parse all takes seconds."""
    for path in sorted(GUI.parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(name in text for name in names):
            yield from ((path, node) for node in ast.walk(ast.parse(text)))


@pytest.mark.threat("T8")
def test_there_is_one_way_to_open_an_address() -> None:
    calls = [
        (path.name, ast.unparse(node.args[0]))
        for path, node in _nodes_of_files_with("openUrl", "webbrowser")
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("openUrl", "webbrowser.open"))
    ]
    own = [one for one in calls if one[0] != "ask_dialogs.py"]
    assert [one for one in calls if one[0] == "ask_dialogs.py"]
    # Besides it only folders of Moot's own are shown.
    assert all(text.startswith("QUrl.fromLocalFile(") for _, text in own)
    assert len(calls) - len(own) == 1
    # The command line opens the page of a login, after its user's yes to exactly that.
    browsers = [
        path.relative_to(GUI.parent).as_posix()
        for path, node in _nodes_of_files_with("webbrowser")
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "webbrowser.open"
    ]
    assert browsers == ["cli/commands/providers.py"]
