"""What the palette can do, each with the shortcut that does it too; made by the desk."""

from collections.abc import Callable
from dataclasses import replace

from app.core.settings import Settings
from app.gui.assistant_commands import AssistantCommands
from app.gui.dialogs.palette_entry import Command
from app.gui.main_window import MainWindow


def palette_commands(
    window: MainWindow,
    assistants: AssistantCommands,
    *,
    settings: Callable[[], Settings],
    choose: Callable[[Settings], object],
    new_chat: Callable[[], object],
    new_debate: Callable[[], object],
    find: Callable[[], object],
    open_settings: Callable[[str], object],
) -> tuple[Command, ...]:
    """Return the commands in the order they are offered; `choose` takes settings that differ from now."""

    def switch_theme() -> None:
        choose(replace(settings(), theme="light" if window.look.tokens.dark else "dark"))

    def switch_language() -> None:
        choose(replace(settings(), language="en" if window.language.name == "ko" else "ko"))

    def toggle_side() -> None:
        window.show_side(not window.side_bar.isVisible())

    return (
        Command(name="new_chat", icon="message-circle", shortcut="Ctrl+N", act=new_chat),
        Command(name="new_debate", icon="scale", act=new_debate),
        Command(name="new_assistant", icon="plus", act=assistants.make_new),
        Command(name="bring_in", icon="download", act=assistants.bring_in),
        Command(name="assistants", icon="users", act=assistants.show_page),
        Command(name="find", icon="search", shortcut="Ctrl+F", act=find),
        Command(name="side", icon="panel-left", shortcut="Ctrl+B", act=toggle_side),
        Command(name="panel", icon="panel-right", shortcut="Ctrl+D", act=window.top_bar.debate_button.toggle),
        Command(name="theme", icon="moon", act=switch_theme),
        Command(name="language", icon="globe", act=switch_language),
        Command(name="servers", icon="plug", act=lambda: open_settings("servers")),
        Command(name="settings", icon="settings", shortcut="Ctrl+,", act=lambda: open_settings("appearance")),
    )
