"""The table of commands: everything the palette lists and a shortcut can start, and which keys each has.

A new command is a row here, its text `palette.<name>`, and what it does in `WindowController.actions`.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

QUICK = "quick_chat"
PORTABLE = QKeySequence.SequenceFormat.PortableText


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its icon and its default keys in Qt's portable form, "" for none.

    `in_session`: the keys count only while the focus is in the main area. `listed`: the palette lists it.
    """

    name: str
    icon: str
    keys: str = ""
    in_session: bool = False
    listed: bool = True


# On a Mac, Ctrl means the Command key, and that with Tab goes to another program.
_TAB = "Meta+Tab" if sys.platform == "darwin" else "Ctrl+Tab"
# In the order of the palette.
COMMANDS = (
    Command("new", "plus", "Ctrl+N"),
    Command("new_chat", "message-circle", "Ctrl+Shift+O"),
    # Its keys work while another program is in front, where the desktop allows that.
    Command(QUICK, "message-circle", ""),
    Command("new_debate", "scale", "Ctrl+Shift+D"),
    Command("new_work", "list-checks", ""),
    Command("new_group", "users", ""),
    Command("ready_groups", "users", ""),
    Command("new_panel", "scale", ""),
    Command("new_folder", "folder-open", ""),
    Command("new_assistant", "plus", ""),
    Command("bring_in", "download", ""),
    Command("assistants", "users", ""),
    Command("search", "search", "Ctrl+K", listed=False),
    Command("find", "search", "Ctrl+F"),
    # Only in the session: in a list of the sidebar F2 renames its row.
    Command("rename", "pencil", "F2", in_session=True),
    Command("undo", "undo-2", "Ctrl+Z"),
    Command("redo", "rotate-cw", "Ctrl+Shift+Z", listed=False),
    Command("area", "columns", "F6", listed=False),
    Command("area_before", "columns", "Shift+F6", listed=False),
    Command("session_after", "arrow-down", _TAB),
    Command("session_before", "arrow-up", _TAB.replace("+", "+Shift+")),
    Command("close", "x", "Ctrl+W"),
    Command("larger", "zoom-in", "Ctrl++"),
    Command("smaller", "zoom-out", "Ctrl+-"),
    Command("usual_size", "search", "Ctrl+0"),
    Command("full_screen", "maximize-2", "F11"),
    Command("panel", "scale", "Ctrl+D"),
    Command("setup", "scale", "Ctrl+1"),
    Command("discussion", "scale", "Ctrl+2"),
    Command("history", "history", "Ctrl+3"),
    Command("workflow", "spline", "Ctrl+E"),
    Command("plan", "list-checks", "Ctrl+J"),
    Command("work", "list-checks", "Ctrl+Shift+J"),
    Command("journal", "gavel", ""),
    Command("pause", "pause", "Ctrl+."),
    Command("settings_mode", "lock", ""),
    Command("summarise", "gauge", ""),
    Command("next_pin", "pin", ""),
    Command("queue", "users", "Ctrl+Shift+E"),
    Command("side", "panel-left", "Ctrl+B"),
    Command("settings", "settings", "Ctrl+,"),
    Command("guide", "circle-question-mark", "F1"),
    Command("shortcuts", "keyboard", "Ctrl+/"),
    Command("theme", "moon", ""),
    Command("language", "globe", ""),
    Command("quit", "x", "Ctrl+Q"),
)


# What else starts a command with these keys: the plus of many keyboards needs Shift.
ALSO = {"Ctrl++": "Ctrl+="}
# Commands that have another name now.
RENAMED = {"notice": "area"}


def key_sequences(keys: str) -> list[QKeySequence]:
    """Return what starts a command with these keys."""
    return [QKeySequence(each, PORTABLE) for each in filter(None, (keys, ALSO.get(keys)))]


def chosen_keys(shortcuts: Sequence[str]) -> dict[str, str]:
    """Return the keys of every command by its name, "" for none: those of a line `command=keys`,
    else the default.

    Unknown commands are ignored; of two commands with the same keys the one keeps them for which they were
    chosen, else the first.
    """
    lines = [line.partition("=") for line in shortcuts]
    chosen = {RENAMED.get(name, name): wanted for name, _, wanted in lines}
    taken: dict[str, str] = {"": ""}
    for command in sorted(COMMANDS, key=lambda command: command.name not in chosen):
        wanted = QKeySequence(chosen.get(command.name, command.keys), PORTABLE).toString(PORTABLE)
        taken.setdefault(wanted, command.name)
    by_name = {name: keys for keys, name in taken.items()}
    return {command.name: by_name.get(command.name, "") for command in COMMANDS}


def kept_shortcuts(keys: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys that differ from the defaults, as `command=keys`."""
    return tuple(f"{item.name}={keys[item.name]}" for item in COMMANDS if keys[item.name] != item.keys)


def written_keys(shortcuts: Sequence[str]) -> dict[str, str]:
    """Return the keys of every command as this system writes them."""
    return {name: written(keys) for name, keys in chosen_keys(shortcuts).items()}


def deletes(key: int) -> bool:
    """Return whether a key deletes what is chosen in a list: Delete, and Backspace on a Mac, whose keyboards
    have no other.
    """
    return key == Qt.Key.Key_Delete or (sys.platform == "darwin" and key == Qt.Key.Key_Backspace)


def written(keys: str) -> str:
    """Return keys as this system writes them; Del is on a Mac what its keyboards have in its place."""
    if sys.platform == "darwin" and keys == "Del":
        keys = "Backspace"
    return QKeySequence(keys, PORTABLE).toString(QKeySequence.SequenceFormat.NativeText)
