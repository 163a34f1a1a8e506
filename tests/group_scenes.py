"""A group that really runs on a scripted wire server, up to what is to be seen: a plan in its middle with a
member and its sub-agent at work, a question of the orchestrator's, and a hand-over that asks first.

Used by the screenshots and by the tests of the group's window.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from app.core.definitions import Agent, Group, Leader
from app.engine.engine import Engine
from tests.app_driver import until
from tests.chat_scenes import PATIENCE_S, architect, call, said_last
from tests.wire import Answer, Reply, WireServer
from tests.wire.server import Recorded

CREW = "Release crew"
SHIP = "Ship the offline importer this week. Find what is missing and get it tested."
WHICH = "Ask me which files the first release imports."
CAREFULLY = "Ship it, and ask me before each step."
STEPS = (
    "Find what is missing offline",
    "Design resume after a partial import",
    "Implement in Backend",
    "QA: cut the network mid-import",
)
FIND = "List what the importer lacks offline"
DESIGN = "Design how an import resumes"
GAPS = "Two gaps: the importer assumes a reachable index, and a partial file is committed as whole."
LOOK = "I will have the browser agent check how peers resume."
PEERS = "Peers write to a sibling file and rename it once the checksum matches; a journal keeps the last verified offset"


@dataclass(frozen=True, slots=True)
class GroupScenes:
    """The ids of the conversations."""

    working: str
    asking: str
    careful: str


def members(model: str = "gpt-5.2", **fields: object) -> tuple[Agent, ...]:
    """Return the assistants of the crew; the fields hold for each."""
    return (
        architect(tools=("subAgent",), sub_agents=("browser",), model=model, **fields),
        architect(id="backend", name="Backend", tools=(), sub_agents=(), model=model, **fields),
        architect(id="qa", name="QA", tools=(), sub_agents=(), model=model, **fields),
    )


def crew(model: str = "gpt-5.2", **fields: object) -> Group:
    """Return the group of the scenes."""
    values: dict[str, object] = {
        "id": "crew",
        "name": CREW,
        "members": ("architect", "backend", "qa"),
        "orchestrator": Leader(provider="openai", model=model),
    }
    return Group(**{**values, **fields})  # type: ignore[arg-type]


def leads(request: Recorded) -> bool:
    """Say whether a request is the orchestrator's."""
    tools = [one["function"]["name"] for one in request.body.get("tools", ())]
    return "switchAssistant" in tools or "reportResult" in tools


def replies(pace: float) -> Callable[[Recorded], Reply]:
    """Return what the model of the scenes answers; `pace` seconds between the words that are seen to stream."""

    def lead(request: Recorded, words: str) -> Reply:
        told = json.dumps(request.body["messages"], ensure_ascii=False)
        if WHICH in told:
            question = "Which file types must the first release import?"
            return Answer(calls=(call("promptToUser", "call_q", prompt=question),))
        if GAPS in told:
            return Answer(
                calls=(
                    call("checkDone", "call_d", index=0),
                    call("switchAssistant", "call_3", assistant="Architect", instruction=DESIGN),
                ),
                input_tokens=1_400,
                output_tokens=80,
            )
        return Answer(
            calls=(
                call("setPlan", "call_1", items=list(STEPS)),
                call("switchAssistant", "call_2", assistant="Architect", instruction=FIND),
            ),
            input_tokens=1_200,
            output_tokens=90,
        )

    def reply(request: Recorded) -> Reply:
        words = said_last(request)
        if leads(request):
            return lead(request, words)
        if "peers resume" in words:
            return Answer(PEERS, pace=pace, pieces=len(PEERS) - 8, input_tokens=1_100, output_tokens=60)
        if DESIGN in words:
            task = "How do peers resume a partial import?"
            return Answer(
                LOOK,
                calls=(call("subAgent", "call_5", name="browser", task=task),),
                input_tokens=1_840,
                output_tokens=212,
            )
        if FIND in words:
            return Answer(GAPS, input_tokens=900, output_tokens=40)
        return Answer("Done.")

    return reply


async def hold_groups(engine: Engine, server: WireServer, pace: float = 30.0) -> GroupScenes:
    """Start the conversations and return once each stands where it is to be seen."""
    server.script("gpt-5.2", replies(pace))
    for agent in members():
        await engine.assistants.save(agent)
    await engine.groups.save(crew())
    asking = await engine.groups.start("crew", WHICH)
    await engine.wait(asking)
    await engine.groups.save(crew(ask_before_hand_over=True))
    careful = await engine.groups.start("crew", CAREFULLY)
    await engine.wait(careful)
    await engine.groups.save(crew())
    working = await engine.groups.start("crew", SHIP)
    live = await engine.open(working)
    await until(
        lambda: any(live.text_of(one.id) for one in live.streaming() if one.author.depth),
        2 * PATIENCE_S,
        "the sub-agent to speak",
    )
    return GroupScenes(working=working, asking=asking, careful=careful)
