"""Chats that really run on scripted wire servers, up to what is to be seen: a tree, a question, an approval, a queue.

Used by the screenshots and by the tests of the chat page.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from app.core.definitions import Agent
from app.engine.engine import Engine
from tests.app_driver import until
from tests.pictures import data_url, images_reply, png
from tests.wire import Answer, Reply, WireServer
from tests.wire.replies import WireCall
from tests.wire.server import Recorded

PATIENCE_S = 20.0
TREE = "Ship the offline importer this week. Find what is missing and get it tested."
QUESTION = "Which file types shall the first release import?"
APPROVAL = "Show me the design of the resumable import."
QUEUE = "Write the release notes of the importer."
PICTURE = "Draw a banner for the release in our orange."
WAITING = (
    "Then translate them into Korean, please.",
    "Keep it under one page, and name the three people who tested it.",
    "Add the known issues at the end.",
)
OPTIONS = ["CSV and JSON only", "Everything the online importer reads"]
PLAN = (
    "Two gaps: the importer assumes a reachable index, and a partial file is committed as whole. "
    "I will have the browser agent check how peers resume, and the checker look for cases nobody thought of."
)
PEERS = "Peers write to a sibling file and rename it once the checksum matches; a journal keeps the last verified offset"
CASES = "1. The disk fills up in the middle of a row.\n2. The same file is imported twice at once."
NOTES = "## Importer 2.0\n\nThe importer now works **without a network**: what was begun is resumed.\n\n"


def call(tool: str, call_id: str = "", /, **arguments: object) -> WireCall:
    """Return a tool call with these arguments."""
    return WireCall(name=tool, arguments=json.dumps(arguments, ensure_ascii=False), id=call_id)


def architect(**fields: object) -> Agent:
    """Return the assistant of the scenes: it may call others, ask, and open pages."""
    values: dict[str, object] = {
        "id": "architect",
        "name": "Architect",
        "provider": "openai",
        "model": "gpt-5.2",
        "description": "Designs before anyone builds.",
        "tools": ("subAgent", "ask", "open_url"),
        "sub_agents": ("browser", "checker"),
    }
    return Agent(**{**values, **fields})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Scenes:
    """The ids of the chats."""

    tree: str
    question: str
    approval: str
    queue: str
    picture: str


def said_last(request: Recorded) -> str:
    """Return the last message of a request to an OpenAI server: its text, or `tool` for a result."""
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return "tool"
    content = last["content"]
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def replies(pace: float) -> Callable[[Recorded], Reply]:
    """Return what the model of the scenes answers; `pace` seconds between the words that are seen to stream."""

    def reply(request: Recorded) -> Reply:
        words = said_last(request)
        if TREE in words:
            return Answer(
                PLAN,
                calls=(
                    call("subAgent", "call_1", name="browser", task="How do peers resume a partial import?"),
                    call("subAgent", "call_2", name="checker", task="Look for cases the importer misses."),
                ),
                input_tokens=1_840,
                output_tokens=212,
            )
        if "peers resume" in words:
            return Answer(calls=(call("get_pages", "call_3"),), input_tokens=900, output_tokens=40)
        if "cases the importer misses" in words:
            return Answer(CASES, pace=pace, pieces=70, input_tokens=700, output_tokens=90)
        if QUESTION in words:
            return Answer(
                calls=(
                    call(
                        "promptUser",
                        "call_4",
                        question="Which file types must the first release import?",
                        type="options",
                        options=OPTIONS,
                    ),
                ),
                input_tokens=600,
                output_tokens=50,
            )
        if APPROVAL in words:
            url = "https://example.org/design/resume?token=\u202e4f2a"
            return Answer(
                "The design is on the team's page.", calls=(call("open_url", "call_5", url=url[:38]),)
            )
        if PICTURE in words:
            banner = data_url(png(720, 240, b"\xe0\x8a\x2e"))
            return images_reply(banner, text="A plain banner, three times as wide as high.")
        if QUEUE in words:
            return Answer(NOTES + "It was tested on three disks. " * 40, pace=pace, pieces=70)
        if words == "tool" and "get_pages" in json.dumps(request.body["messages"][-2]):
            return Answer(PEERS, pace=pace, pieces=70, input_tokens=1_100, output_tokens=60)
        return Answer("Done.")

    return reply


async def hold_chats(engine: Engine, server: WireServer, pace: float = 30.0) -> Scenes:
    """Start the chats and return once each stands where it is to be seen."""
    server.script("gpt-5.2", replies(pace))
    await engine.assistants.save(architect())
    question = await engine.chats.start("architect", QUESTION)
    await engine.wait(question)
    approval = await engine.chats.start("architect", APPROVAL)
    await engine.wait(approval)
    picture = await engine.chats.start("architect", PICTURE)
    await engine.wait(picture)
    queue = await engine.chats.start("architect", QUEUE)
    live = await engine.open(queue)
    await until(lambda: any(live.text_of(one.id) for one in live.streaming()), PATIENCE_S)
    for text in WAITING:
        await engine.chats.send(queue, text)
    tree = await engine.chats.start("architect", TREE)
    live = await engine.open(tree)
    await until(
        lambda: sum(bool(live.text_of(one.id)) for one in live.streaming() if one.author.depth) == 2,
        PATIENCE_S,
        "both sub-agents to speak",
    )
    return Scenes(tree=tree, question=question, approval=approval, queue=queue, picture=picture)
