"""THE table of what the window can do by name: its icon, its keys, and what it does.

The palette, the shortcuts and the settings' list of them are all made from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut

from app.gui.dialogs.palette_entry import Command

if TYPE_CHECKING:
    from app.gui.desk import Desk


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
        DeskCommand("side", "panel-left", "Ctrl+B", lambda desk: desk.toggle_side()),
        DeskCommand("servers", "plug", "", lambda desk: desk.open_settings("servers")),
        DeskCommand("settings", "settings", "Ctrl+,", lambda desk: desk.open_settings("appearance")),
        DeskCommand("theme", "moon", "", lambda desk: desk.switch_theme()),
        DeskCommand("language", "globe", "", lambda desk: desk.switch_language()),
    )


class DeskCommands(QObject):
    """Gives a desk's commands their keys, and the palette its lines."""

    def __init__(self, desk: "Desk") -> None:
        super().__init__(desk)
        self._desk = desk
        for command in all_commands():
            if command.keys:
                holder = desk.window.main_area if command.in_session else desk.window
                shortcut = QShortcut(QKeySequence(command.keys), holder, partial(command.act, desk))
                if command.in_session:
                    shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

    def palette_commands(self) -> tuple[Command, ...]:
        """Return what the palette can do beside going to what it finds."""
        return tuple(
            Command(name=one.name, icon=one.icon, act=partial(one.act, self._desk), shortcut=one.keys)
            for one in all_commands()
            if one.listed
        )
