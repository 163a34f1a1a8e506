"""The pictures of what comes of a debate: its verdict and ballots, taken by `tests.screenshots`."""

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.core.council import Participant
from app.core.summary import DebateMode
from app.engine.engine import DebateSetup, Engine
from tests.app_driver import Person
from tests.wire import Answer, WireServer

STANCES = {"openai": (2, 2, 1, 1), "anthropic": (-2, -1, 0, 1), "gemini": (0, 0, 0, 1)}
VERDICT = {
    "answer": [
        {"text": "Do not rewrite at once.", "cites": [2]},
        {
            "text": "Replace one statement type at a time with the old parser as the oracle, "
            "and stop if differences cost more than a day a week.",
            "cites": [4, 6, 8],
        },
    ],
    "agreed": [
        {"text": "The replay corpus decides", "cites": [3]},
        {"text": "No feature freeze over two weeks", "cites": [7, 8]},
    ],
    "open": [
        {"text": "Who owns the differences", "cites": [5]},
        {"text": "When to delete the old parser", "cites": []},
    ],
}


def script_debate(server: WireServer, words: Sequence[str], verdict: object = None) -> None:
    """Let a server speak, vote and judge; what it votes depends on how much was said."""
    votes = iter(STANCES[server.kind])
    said = iter([*words] * 9)

    def reply(request) -> Answer:  # type: ignore[no-untyped-def]
        asked = request.messages[-1].text
        if "secret ballot" in asked:
            return Answer(json.dumps({"stance": next(votes, 0)}))
        if "You judge a debate" in asked:
            return Answer(json.dumps(verdict or VERDICT))
        return Answer(next(said), delay=0.2)

    server.script(server.models[0], reply)


async def hold_verdict(
    engine: Engine,
    servers: list[WireServer],
    participants: tuple[Participant, ...],
    words: dict[str, tuple[str, ...]],
    topic: str,
) -> str:
    """Hold a debate with ballots and a verdict; return its session's id."""
    for server in servers:
        script_debate(server, words[server.kind])
    setup = DebateSetup(topic=topic, participants=participants, mode=DebateMode.ROLES, rounds=3, polls=True)
    session_id = await engine.debates.start(setup)
    await engine.wait(session_id)
    return session_id


async def take_verdict(
    person: Person,
    session_id: str,
    keep: Callable[[QWidget, Path], Awaitable[None]],
    path: Callable[[str], Path],
) -> None:
    """Keep a picture of the verdict in the panel and of the same, wide, in the main area."""
    window = person.window
    window.controller.show_session(session_id)
    await person.settle(0.2)
    window.top_bar.debate_button.setChecked(False)
    await keep(window, path("verdict-wide"))
    window.top_bar.debate_button.setChecked(True)
    group = next((one.id for one in window.controller.engine.sessions() if one.kind == "group"), "")
    window.controller.show_session(group)
    await person.settle(0.2)
    await window.controller.debates.show_discussion(session_id)
    widths = window.splitter.widths()
    window.splitter.set_widths([widths[0], 0, 622, *widths[3:]])
    await keep(window, path("verdict"))
    window.splitter.set_widths(widths)
    window.top_bar.debate_button.setChecked(False)
