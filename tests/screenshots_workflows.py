"""The pictures of a workflow at work and of its definitions, taken by `tests.screenshots`."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.engine.engine import Engine
from tests.app_driver import Person, until
from tests.wire import Answer, WireServer

LOOP = "Fix the login loop"
FOUND = "Signing in twice within a second leaves two sessions, and each sends the other to the sign-in page."
DONE = f"{FOUND}\n\n[STEP_COMPLETE]\nartifacts: steps.md\nstatus: done"


async def hold_workflow(engine: Engine, server: WireServer, pace: float = 60.0) -> str:
    """Start a bug fix and return its session's id once its second step speaks."""

    def reply(request) -> Answer:  # type: ignore[no-untyped-def]
        step = str(request.body["messages"][1]["content"]).split('"')[1]
        slow = step == "Find the cause"
        return Answer(FOUND, pace=pace, pieces=len(FOUND) - 8) if slow else Answer(DONE)

    server.script("gpt-5.2", reply)
    session_id = await engine.workflows.start(LOOP, "bug-fix")
    live = await engine.open(session_id)
    await until(lambda: live.session.workflow.steps[1].state == "running", 60)
    await until(lambda: any(live.text_of(one.id) for one in live.streaming()), 60)
    return session_id


async def take_workflow(
    person: Person,
    session_id: str,
    keep: Callable[[QWidget, Path], Awaitable[None]],
    path: Callable[[str], Path],
) -> None:
    """Keep a picture of the steps, and of the definitions; `keep` writes one, `path` gives its place."""
    window = person.window
    window.controller.show_session(session_id)
    await until(lambda: window.controller.chat_page.session_id == session_id)
    window.top_bar.workflow_button.setChecked(True)
    for place, view in enumerate(("workflow-work", "workflow-definitions")):
        window.controller.workflows.panel.tabs.choose(place)
        await keep(window, path(view))
    window.top_bar.workflow_button.setChecked(False)
