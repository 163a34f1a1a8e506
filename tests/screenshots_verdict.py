"""The pictures of what comes of a debate: its verdict and ballots, taken by `tests.screenshots`."""

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.core.council import Participant
from app.core.session import DebateMode
from app.engine.engine import DebateSetup, Engine
from app.gui.controllers.debates import OFFERS_BLIND
from tests.app_driver import Person
from tests.wire import Answer, WireServer

STEPS, AT_ONCE, NOT = OPTIONS = ("One statement type at a time", "At once", "Not at all")
VOTES = {
    "openai": (AT_ONCE, AT_ONCE, STEPS, STEPS),
    "anthropic": (NOT, NOT, NOT, STEPS),
    "gemini": (STEPS, STEPS, STEPS, STEPS),
}
CASE = (
    "Replace one statement type at a time with the old parser as the oracle, "
    "and stop if differences cost more than a day a week."
)


def letter_of(asked: str, option: str) -> str:
    """Return the letter under which a request offers an option."""
    return next(line[0] for line in asked.splitlines() if line[1:] == f": {option}")


def ballot(asked: str, option: str, sure: int = 70) -> str:
    """Vote for an option that a request offers."""
    return json.dumps({"choice": letter_of(asked, option), "confidence": sure, "moved_by": []})


def reading(asked: str, option: str, case: str = CASE, **more: object) -> str:
    """Judge for an option that a request offers; the first and the last statement are the case."""
    letter, last = letter_of(asked, option), asked.count("\n(")
    points = {
        "agreed": ["The replay corpus decides", "No feature freeze over two weeks"],
        "open": ["Who owns the differences", "When to delete the old parser"],
    }
    said = {
        "choice": letter,
        "confidence": 80,
        "cases": [{"option": letter, "text": case, "cites": [1, last]}],
        **{name: [{"text": text, "cites": [1]} for text in texts] for name, texts in points.items()},
        "cruxes": [],
        "claims": [],
        "unsupported": [],
    }
    return json.dumps({**said, **more})


def script_debate(server: WireServer, words: Sequence[str]) -> None:
    """Let a server speak, vote and judge; what it votes depends on how much was said."""
    votes, said = iter(VOTES[server.kind]), iter([*words] * 9)

    def reply(request) -> Answer:  # type: ignore[no-untyped-def]
        asked = request.messages[-1].text
        if "secret ballot" in asked:
            return Answer(ballot(asked, next(votes, STEPS)))
        if "You judge a question" in asked:
            return Answer(reading(asked, STEPS))
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
    setup = DebateSetup(
        topic=topic,
        participants=participants,
        mode=DebateMode.ROLES,
        rounds=3,
        polls=True,
        options=OPTIONS,
    )
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
    # The verdict itself, not what is offered before it is read.
    window.state.keep(OFFERS_BLIND, False)
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
