"""Long sessions as the engine sends them: the requests of a chat, and of a group's orchestrator."""

from itertools import pairwise
from pathlib import Path
from random import Random

from app.core.provider import ModelFacts, ModelRequest
from app.core.tool import Tool
from tests.builders import Bench
from tests.engine.request_rules import as_sent, shared_bytes
from tests.engine.test_group import acting, hand
from tests.engine.test_group import bench as group_bench
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import a_tool, bench, calling

WORDS = [
    "sea",
    "wind",
    "stone",
    "river",
    "light",
    "harbour",
    "bridge",
    "market",
    "winter",
    "letter",
    "garden",
    "window",
    "copper",
    "story",
    "map",
]
WINDOW = 15
_CLOUD = ModelFacts(window=200_000, most_output=32_000)


def text_of(number: int, size: int) -> str:
    """Return words of this many characters, others for each number."""
    chosen = Random(number)
    return f"{number} {' '.join(chosen.choice(WORDS) for _ in range(size // 3))}"[:size]


def ten_tools() -> list[Tool]:
    """Return ten tools with descriptions as long as those of real ones."""
    return [a_tool(f"tool_{number}", description=text_of(number, 450)) for number in range(10)]


def in_cloud(made: Bench) -> None:
    """Let the models have the window of a cloud's."""
    made.models.known_facts = lambda provider, model: _CLOUD  # type: ignore[method-assign]


async def chat_of(folder: Path, turns: int) -> list[ModelRequest]:
    """Return the requests of a chat: the user writes 300 characters, the model answers 1,500."""
    answers = [[text_of(1_000 + number, 1_500)] for number in range(turns)]
    made = bench(folder, answers, *ten_tools())  # type: ignore[arg-type]
    in_cloud(made)
    session_id = await made.engine.chats.start("main", text_of(0, 300))
    await made.engine.wait(session_id)
    for number in range(1, turns):
        await made.engine.chats.send(session_id, text_of(number, 300))
        await made.engine.wait(session_id)
    await made.engine.shutdown()
    return made.models.requests


async def orchestrator_of(folder: Path, requests: int, hand_overs: int) -> list[ModelRequest]:
    """Return the requests of a group's orchestrator, which hands over so often for each request of the user."""
    steps = []
    for number in range(requests):
        plan = ("setPlan", {"items": [text_of(place, 60) for place in range(hand_overs)]})
        for place in range(hand_overs):
            before = ("checkDone", {"index": place - 1}) if place else plan
            steps.append(calling(before, hand("ann", text_of(100 * number + place, 400))))
        done = ("checkDone", {"index": hand_overs - 1})
        steps.append(calling(done, ("reportResult", {"result_in_detail": text_of(number, 1_500)})))
    made = group_bench(folder, acting(*steps, member=[text_of(7, 1_500)]))  # type: ignore[list-item]
    in_cloud(made)
    session_id = await made.engine.groups.start("crew", text_of(0, 300))
    await made.engine.wait(session_id)
    for number in range(1, requests):
        await made.engine.chats.send(session_id, text_of(number, 300))
        await made.engine.wait(session_id)
    await made.engine.shutdown()
    return [one for one in made.models.requests if who(one) == "orchestrator"]


def share(requests: list[ModelRequest]) -> float:
    """Return which part of the bytes of requests is the beginning of the one before."""
    pairs = [shared_bytes(before, after) for before, after in pairwise(requests)]
    return sum(same for same, _ in pairs) / sum(size for _, size in pairs)


def in_window(request: ModelRequest) -> int:
    """Return the bytes of a request where only the newest 15 messages are sent."""
    system, *messages = request.messages
    kept = ModelRequest(
        provider=request.provider,
        model=request.model,
        messages=(system, *messages[-WINDOW:]),
        tools=request.tools,
    )
    return len(as_sent(kept).encode())
