"""THE table of what the window can do by name: its icon, its keys, and what it does.

The palette, the shortcuts and the settings' list of them are all made from it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut

from app.gui.dialogs.palette_entry import SETTING, Command
from app.gui.widgets.undo_key import UndoKey

if TYPE_CHECKING:
    from app.gui.controllers.window import Desk


PORTABLE = QKeySequence.SequenceFormat.PortableText


@dataclass(frozen=True, slots=True)
class DeskCommand:
    """One command: its words are `palette.<name>` of the catalogue, `keys` are those it has at first.

    Where `in_session`, its keys count only while the focus is in the main area; `listed` is whether the
    palette offers it.
    """

    name: str
    icon: str
    keys: str
    act: Callable[["Desk"], object]
    in_session: bool = False
    listed: bool = True


def all_commands() -> tuple[DeskCommand, ...]:
    """Return the commands, in the order of the palette."""
    return (
        DeskCommand("new_chat", "message-circle", "Ctrl+N", lambda desk: desk.show_new()),
        DeskCommand("new_debate", "scale", "", lambda desk: desk.debates.show_setup()),
        DeskCommand("new_group", "users", "", lambda desk: desk.group_commands.make_new()),
        DeskCommand("ready_groups", "users", "", lambda desk: desk.group_commands.show_ready()),
        DeskCommand("new_assistant", "plus", "", lambda desk: desk.assistants.make_new()),
        DeskCommand("bring_in", "download", "", lambda desk: desk.assistants.bring_in()),
        DeskCommand("assistants", "users", "", lambda desk: desk.assistants.show_page()),
        DeskCommand("search", "search", "Ctrl+K", lambda desk: desk.assistants.search(), listed=False),
        DeskCommand("find", "search", "Ctrl+F", lambda desk: desk.find_in_session()),
        # Only where the focus is in the session: in a list of the side bar F2 is about its row.
        DeskCommand("rename", "pencil", "F2", lambda desk: desk.window.top_bar.rename(), in_session=True),
        DeskCommand("undo", "undo-2", "Ctrl+Z", lambda desk: desk.undo()),
        DeskCommand("notice", "info", "F6", lambda desk: desk.window.toasts.take_focus(), listed=False),
        DeskCommand("panel", "scale", "Ctrl+D", lambda desk: desk.window.top_bar.debate_button.toggle()),
        DeskCommand("setup", "scale", "Ctrl+1", lambda desk: desk.debates.show_tab(0)),
        DeskCommand("discussion", "scale", "Ctrl+2", lambda desk: desk.debates.show_tab(1)),
        DeskCommand("history", "history", "Ctrl+3", lambda desk: desk.debates.show_tab(2)),
        DeskCommand(
            "workflow", "spline", "Ctrl+E", lambda desk: desk.window.top_bar.workflow_button.toggle()
        ),
        DeskCommand("plan", "list-checks", "Ctrl+J", lambda desk: desk.window.top_bar.plan_button.toggle()),
        DeskCommand(
            "needs_you",
            "circle-question-mark",
            "Ctrl+Shift+J",
            lambda desk: desk.window.top_bar.needs_you.open(),
        ),
        DeskCommand("pause", "pause", "Ctrl+.", lambda desk: desk.pause_or_resume()),
        DeskCommand("settings_mode", "lock", "", lambda desk: desk.chats.switch_settings_mode()),
        DeskCommand("queue", "users", "Ctrl+Shift+E", lambda desk: desk.workflows.queues.show()),
        DeskCommand("side", "panel-left", "Ctrl+B", lambda desk: desk.toggle_side()),
        DeskCommand("settings", "settings", "Ctrl+,", lambda desk: desk.open_settings("appearance")),
        DeskCommand("shortcuts", "keyboard", "F1", lambda desk: desk.open_settings("shortcuts")),
        DeskCommand("theme", "moon", "", lambda desk: desk.switch_theme()),
        DeskCommand("language", "globe", "", lambda desk: desk.switch_language()),
        DeskCommand("quit", "x", "Ctrl+Q", lambda desk: desk.window.close_requested.emit()),
    )


def chosen_keys(shortcuts: Sequence[str]) -> dict[str, str]:
    """Return the keys of every command by its name, "" for none: those of `command=keys`, else its first.

    What names no command counts for nothing; of two commands with the same keys the first has them.
    """
    keys = {one.name: one.keys for one in all_commands()}
    for line in shortcuts:
        name, _, wanted = line.partition("=")
        if name in keys:
            keys[name] = QKeySequence(wanted, PORTABLE).toString(PORTABLE)
    taken: set[str] = set()
    for name, wanted in keys.items():
        keys[name] = "" if wanted in taken else wanted
        taken.add(wanted)
    return keys


def kept_shortcuts(keys: Mapping[str, str]) -> tuple[str, ...]:
    """Return what of the commands' keys differs from the first ones, as `command=keys`."""
    return tuple(f"{one.name}={keys[one.name]}" for one in all_commands() if keys[one.name] != one.keys)


def written_keys(shortcuts: Sequence[str]) -> dict[str, str]:
    """Return the keys of every command as they are written on this system."""
    return {name: written(keys) for name, keys in chosen_keys(shortcuts).items()}


def written(keys: str) -> str:
    """Return keys as they are written on this system."""
    return QKeySequence(keys, PORTABLE).toString(QKeySequence.SequenceFormat.NativeText)


class DeskCommands(QObject):
    """Gives a desk's commands their keys, and the palette its lines."""

    def __init__(self, desk: "Desk") -> None:
        super().__init__(desk)
        self._desk = desk
        self._shortcuts: dict[str, QShortcut] = {}
        UndoKey(self)
        for command in all_commands():
            shortcut = QShortcut(desk.window.main_area if command.in_session else desk.window)
            if command.in_session:
                shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(partial(command.act, desk))
            self._shortcuts[command.name] = shortcut

    def choose(self, shortcuts: Sequence[str]) -> None:
        """Let the commands have the keys of `Settings.shortcuts` from now on."""
        for name, keys in chosen_keys(shortcuts).items():
            self._shortcuts[name].setKey(QKeySequence(keys, PORTABLE))
        language = self._desk.window.language
        language.choose_keys(written_keys(shortcuts))
        commands = [
            Command(
                key=f"palette.{one.name}",
                icon=one.icon,
                act=partial(one.act, self._desk),
                shortcut=language.keys(one.name),
            )
            for one in all_commands()
            if one.listed
        ]
        self._desk.assistants.set_commands([*commands, *self._settings()])

    def _settings(self) -> list[Command]:
        """Return the pages of the settings, and what is chosen on them."""
        from app.gui.pages.settings.settings_dialog import PAGES
        from app.gui.pages.settings.settings_rows import settings_of

        found = []
        for page, icon in PAGES.items():
            show = partial(self._desk.open_settings, page)
            key = f"settings.{page}"
            if page != "shortcuts":  # That is a command by itself.
                found.append(Command(key=key, icon=icon, act=show, section=SETTING, more=f"{key}.find"))
            found += [
                Command(
                    key=f"setting.{name}", icon=icon, act=partial(show, row=name), section=SETTING, page=key
                )
                for name in settings_of(page)
            ]
        return found
