"""The pictures of a group's conversation, its plan and what needs the user, taken by `tests.screenshots`."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from tests.app_driver import Person, until
from tests.group_scenes import GroupScenes


async def take_groups(
    person: Person,
    scenes: GroupScenes,
    keep: Callable[[QWidget, Path], Awaitable[None]],
    path: Callable[[str], Path],
) -> None:
    """Keep a picture of a group at work, of its question, of a hand-over that asks, and of the lists.

    `keep` writes the picture of a widget, `path` gives a view's place.
    """
    window = person.window
    page = window.controller.chat_page
    window.top_bar.debate_button.setChecked(False)
    for view, unfolded in (("asking", False), ("careful", False), ("working", True)):
        session_id = getattr(scenes, view)
        window.controller.show_session(session_id)
        await until(lambda: page.session_id == session_id)  # noqa: B023
        page.box.unfold(unfolded)
        await keep(window, path(f"group-{view}"))
    window.top_bar.plan_button.setChecked(True)
    await keep(window, path("group-plan"))
    window.top_bar.plan_button.setChecked(False)
    window.controller.work.show()
    await keep(window, path("work"))
    window.controller.work.show_assistant()
    await keep(window, path("work-by-assistant"))
    window.controller.show_new(group_id="crew")
    await person.write("composer", "@")
    await keep(window, path("group-new"))
    page.composer.box.clear()
