"""Makes the pictures of the window: `python -m tests.screenshots [--out DIR]`.

Welcome, Setup, Discussion, History, chats, assistants and groups, light and dark, English and Korean,
in two sizes, with sessions that really ran against the local servers of `tests/wire`; and the README's.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

from app.core.session import DebateMode

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.*=false")
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

from PySide6.QtWidgets import QApplication, QWidget

from app.core.council import Participant
from app.engine.engine import DebateSetup, Engine
from app.gui.desktop.event_loop import AppLoop
from tests.app_driver import Person, at_window, until
from tests.chat_scenes import Scenes, hold_chats
from tests.group_scenes import hold_groups
from tests.screenshots_assistants import keep_assistants, take_assistants
from tests.screenshots_groups import take_groups
from tests.screenshots_verdict import hold_verdict, take_verdict
from tests.screenshots_workflows import hold_workflow, take_workflow
from tests.wire import Answer, Fault, WireServer, write_providers

SIZES = ((1440, 900), (900, 600))
# The pictures of the README, and which views they are.
IN_README = {
    "debate": "discussion",
    "welcome": "welcome",
    "group": "group-working",
    "workflow": "workflow-work",
    "work": "work",
}
# The pictures of the guide, by its topics, in its languages.
IN_GUIDE = {
    "start": "welcome",
    "deciding": "verdict-wide",
    "debates": "discussion",
    "groups-and-work": "group-working",
    "workflows": "workflow-work",
    "assistants-and-tools": "chat-approval",
    "models-on-this-computer": "settings-local",
}
TOPICS = {"en": "Should we rewrite the parser?", "ko": "파서를 다시 써야 할까?"}
WORDS = {
    "openai": (
        "A grammar-driven parser removes the 41 special cases that caused last quarter’s regressions.",
        "Then strangle it: new grammar per statement type, old parser as the oracle, two weeks each.",
    ),
    "anthropic": (
        "The special cases *are* the spec. A rewrite loses them and finds them again in production.",
        "With the oracle in place my objection narrows to cost: who owns the differences it reports? Who decides?",
    ),
    "gemini": (
        "Both are testable: replay the 2.1 M stored inputs through each and count differences.",
        "I can run the replay nightly.",
    ),
}
STEP_IN = "Assume we cannot freeze features for more than two weeks."
PARTICIPANTS = (
    Participant(id="gpt", name="GPT", provider="openai", model="gpt-5.2", role="for"),
    Participant(id="claude", name="Claude", provider="anthropic", model="claude-opus-4-5", role="against"),
    Participant(id="gemini", name="Gemini", provider="gemini", model="gemini-3-pro", role="neutral"),
)
MODELS = {participant.provider: participant.model for participant in PARTICIPANTS}


def main() -> int:
    """Make every picture; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("screenshots"))
    parser.add_argument("--readme", type=Path, default=Path("packaging/screenshots"))
    parser.add_argument("--guide", type=Path, default=Path("resources/guide"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    application = QApplication(["moot-screenshots"])
    application.setQuitOnLastWindowClosed(False)
    servers = [WireServer(kind, models=(model,)) for kind, model in MODELS.items()]
    with tempfile.TemporaryDirectory() as folder:
        for server in servers:
            server.start()
        os.environ.update(write_providers(Path(folder), servers))
        try:
            with asyncio.Runner(loop_factory=lambda: AppLoop(application)) as runner:
                runner.run(take_all(Path(folder), servers, arguments.out, arguments.readme))
            keep_guide(arguments.out, arguments.guide)
        finally:
            for server in servers:
                server.close()
    return 0


async def take_all(data_dir: Path, servers: list[WireServer], out: Path, readme: Path) -> None:
    """Run the debates, then show each view in each way and keep its picture."""
    async with at_window(data_dir) as person:
        window = person.window
        engine = window.controller.panel.setup._engine
        await hold_debates(engine, servers)
        await until(lambda: not person.sees("toast"), 30)
        running = await debate_in_its_middle(engine, servers)
        scenes = await hold_chats(engine, servers[0])
        await person.settle(0.4)
        async for language, path in each_way(person, engine, out):
            await take_views(person, running, language, path)
            await take_chats(person, scenes, path)
        groups = await hold_groups(engine, servers[0])
        async for _language, path in each_way(person, engine, out):
            await take_groups(person, groups, keep_widget, path)
        await engine.groups.delete("crew")
        verdict = await hold_verdict(engine, servers, PARTICIPANTS, WORDS, TOPICS["en"])
        async for _language, path in each_way(person, engine, out):
            await take_verdict(person, verdict, keep_widget, path)
        work = await hold_workflow(engine, servers[0])
        async for _language, path in each_way(person, engine, out):
            await take_workflow(person, work, keep_widget, path)
        readme.mkdir(parents=True, exist_ok=True)
        for name, view in IN_README.items():
            shutil.copyfile(out / f"{view}-en-light-{SIZES[0][0]}.png", readme / f"{name}.png")
        window.top_bar.debate_button.setChecked(False)
        await keep_assistants(engine)
        await until(lambda: person.sees("toast"))
        await until(lambda: not person.sees("toast"), 30)
        async for _language, path in each_way(person, engine, out):
            await take_assistants(person, keep_widget, path)


def keep_guide(out: Path, guide: Path) -> None:
    """Copy the pictures of the guide: small windows, which are read without being enlarged."""
    for topic, view in IN_GUIDE.items():
        for language in TOPICS:
            (guide / language).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(
                out / f"{view}-{language}-light-{SIZES[1][0]}.png", guide / language / f"{topic}.png"
            )


async def each_way(
    person: Person, engine: Engine, out: Path
) -> AsyncIterator[tuple[str, Callable[[str], Path]]]:
    """Bring the window into each language, theme and size; yield the language and the place of a view.

    It is left in English: what begins next has its words from the language it begins in.
    """
    for language in ("en", "ko"):
        for theme in ("light", "dark"):
            person.window.controller.settings.change({"language": language, "theme": theme})
            await person.settle(0.1)
            for size in SIZES:
                person.window.resize(*size)
                name = f"{language}-{theme}-{size[0]}"
                yield language, lambda view, name=name: out / f"{view}-{name}.png"  # type: ignore[misc]
    person.window.controller.settings.change({"language": "en", "theme": "light"})
    await person.settle(0.1)


async def take_views(person: Person, running: str, language: str, path) -> None:  # type: ignore[no-untyped-def]
    """Keep a picture of each view in the language and theme the window has now."""
    window = person.window
    window.controller.show_new()
    window.top_bar.debate_button.setChecked(False)
    await keep(person, path("welcome"))
    await show_discussion(person, running)
    await keep(person, path("discussion"))
    window.controller.debates.show_setup(TOPICS[language])
    window.controller.panel.setup.mode.set_value(DebateMode.ROLES)
    await keep(person, path("setup"))
    window.controller.panel.tabs.choose(2)
    window.controller.panel.tabs.setFocus()
    await keep(person, path("history"))


async def take_chats(person: Person, scenes: Scenes, path) -> None:  # type: ignore[no-untyped-def]
    """Keep a picture of each chat, and of an empty page to begin one on."""
    window = person.window
    window.top_bar.debate_button.setChecked(False)
    page = window.controller.chat_page
    for view in ("question", "approval", "picture", "queue", "tree"):
        session_id = getattr(scenes, view)
        window.controller.show_session(session_id)
        await until(lambda: page.session_id == session_id)  # noqa: B023
        await keep(person, path(f"chat-{view}"))
    live = await window.controller.engine.open(scenes.tree)
    subs = {message.turn_id for message in live.messages if message.author.depth}
    for folded in (True, False):
        for turn_id in subs:
            page.transcript.feed.fold(turn_id, folded)
        if folded:
            await keep(person, path("chat-tree-folded"))
    await person.click("new_button")
    await keep(person, path("chat-new"))


async def show_discussion(person: Person, running: str) -> None:
    """Show the running debate in the main area, and how it stands in the panel."""
    window = person.window
    window.controller.show_session(running)
    await until(lambda: window.controller.pages.session and window.controller.pages.session.id == running)
    window.top_bar.debate_button.setChecked(True)
    await window.controller.debates.show_discussion(running)
    await person.settle(0.2)


async def keep(person: Person, path: Path) -> None:
    """Write the picture of the window as it is."""
    await keep_widget(person.window, path)


async def keep_widget(widget: QWidget, path: Path) -> None:
    """Write the picture of a window or a dialog as it is."""
    await asyncio.sleep(0.25)
    widget.grab().save(str(path))
    print(path, file=sys.stderr)


async def hold_debates(engine: Engine, servers: list[WireServer]) -> None:
    """Hold the debates that History shows: ended, paused, stopped and failed ones."""
    for server in servers:
        server.script(MODELS[server.kind], lambda request: Answer(WORDS[request.kind][0]))
    gpt, claude, gemini = seats = tuple(replace(one, role="") for one in PARTICIPANTS)
    servers[2].script(MODELS["gemini"], lambda _request: Answer(WORDS["gemini"][0], delay=1.0))
    failing = await engine.debates.start(
        DebateSetup(
            topic="Is p99 the right goal?", participants=(gpt, gemini), mode=DebateMode.FREE, rounds=3
        )
    )
    await until(lambda: len(engine.tail(failing)) >= 2, 120)
    for enabled in (False, True):
        status = next(one for one in engine.providers() if one.config.id == "gemini")
        await engine.save_provider(replace(status.config, enabled=enabled))
        if not enabled:
            await engine.wait(failing)
    servers[2].script(MODELS["gemini"], lambda _request: Answer(WORDS["gemini"][0]))
    stopped = await engine.debates.start(
        DebateSetup(topic="Pick a queue for 10k jobs/s", participants=seats, rounds=5)
    )
    await engine.stop(stopped)
    done = await engine.debates.start(
        DebateSetup(topic="Monorepo or many repos?", participants=(gpt, claude), rounds=2)
    )
    await engine.wait(done)
    for server in servers:
        server.script(MODELS[server.kind], [Fault("e500"), Fault("e500"), Fault("e500")])
    paused = await engine.debates.start(
        DebateSetup(
            topic="원격 근무, 늘려야 할까?", participants=(claude, gemini), mode=DebateMode.FREE, rounds=3
        )
    )
    await engine.wait(paused)


async def debate_in_its_middle(engine: Engine, servers: list[WireServer]) -> str:
    """Start a debate, step in after its first round, and leave the second turn of the second half said."""
    for server in servers:
        first, second = WORDS[server.kind]
        slow = Answer(second, pace=60.0 if server.kind == "anthropic" else 0.0, pieces=62)
        server.script(MODELS[server.kind], [Answer(first, delay=0.3), slow])
    session_id = await engine.debates.start(
        DebateSetup(topic=TOPICS["en"], participants=PARTICIPANTS, mode=DebateMode.ROLES, rounds=3)
    )
    live = await engine.open(session_id)
    await until(lambda: len(live.messages) >= 3, 120)
    await engine.debates.say(session_id, STEP_IN)
    await until(lambda: any(live.text_of(one.id) for one in live.streaming() if one.round == 2), 120)
    await until(lambda: len(live.messages) >= 6 and live.text_of(live.messages[-1].id), 120)
    return session_id


if __name__ == "__main__":
    sys.exit(main())
