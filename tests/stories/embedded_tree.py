"""The tree of four on the built-in model, guided by Moot: how many runs end, how long they take.

Run as `python -m tests.stories.embedded_tree [RUNS]`.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL
from app.core.definitions import Agent
from app.core.message import MessageState, Role
from app.core.session import Status
from app.wiring import Moot, open_moot

TASKS = (
    "Plan a small birthday party for a child.",
    "Should our village build a new bridge?",
    "How can I sleep better?",
    "What should I cook for four friends?",
    "Help me write a short note to my landlord about the heating.",
)
ANSWER = "Please keep it cheap and simple."


def crew() -> tuple[Agent, ...]:
    """Return a master with two helpers, one of whom has a helper that asks the user."""
    model = {"provider": EMBEDDED, "model": EMBEDDED_MODEL}
    return (
        Agent(id="lead", name="Lead", tools=("subAgent",), sub_agents=("ada", "ben"), **model),
        Agent(id="ada", name="Ada", tools=("subAgent",), sub_agents=("cleo",), role="Researcher", **model),
        Agent(id="ben", name="Ben", role="Critic", instructions="Look for what could go wrong.", **model),
        Agent(id="cleo", name="Cleo", tools=("promptUser",), role="Interviewer", **model),
    )


async def run_tree(moot: Moot, task: str) -> tuple[bool, int, str]:
    """Run the tree once; return whether all four finished, how many questions were asked, and the session."""
    engine = moot.engine
    session_id = await engine.chats.start("lead", task)
    session = await engine.wait(session_id)
    asked = 0
    while session.status == Status.WAITING and asked < 5:
        [(_, question)] = engine.chats.needs_you()
        asked += 1
        await engine.chats.answer(session_id, question.id, ANSWER)
        session = await engine.wait(session_id)
    live = await engine.open(session_id)
    spoke = {
        one.author.id
        for one in live.messages
        if one.role == Role.ASSISTANT and one.state == MessageState.DONE and one.content
    }
    refused = [one for one in live.messages if one.role == "tool" and '"ok": false' in one.content]
    return (
        session.status == Status.IDLE and {"lead", "ada", "ben", "cleo"} <= spoke and not refused,
        asked,
        session_id,
    )


def write_crew(data_dir: Path, agents: Iterable[Agent]) -> None:
    """Write assistants as a person would."""
    folder = data_dir / "assistants"
    folder.mkdir(parents=True, exist_ok=True)
    for agent in agents:
        document = {
            "id": agent.id,
            "name": agent.name,
            "role": agent.role,
            "provider": agent.provider,
            "model": agent.model,
            "instructions": agent.instructions,
            "tools": agent.tools,
            "sub_agents": agent.sub_agents,
        }
        (folder / f"{agent.id}.json").write_text(json.dumps(document))


def tell(moot: Moot, session_id: str) -> None:
    """Print a session's messages."""
    live = moot.engine.live(session_id)
    for message in live.messages if live else ():
        calls = [f"{call.name}{call.arguments}" for call in message.tool_calls]
        print(
            f"{'  ' * message.author.depth}{message.author.name} ({message.role}): "
            f"{message.content[:200]} {message.error or ''} {calls or ''}"
        )


async def main(runs: int) -> None:
    """Run the tree some times and print what happened."""
    with tempfile.TemporaryDirectory() as folder:
        write_crew(Path(folder), crew())
        moot = await open_moot(Path(folder))
        try:
            finished = 0
            for number in range(runs):
                begun = time.monotonic()
                done, asked, session_id = await run_tree(moot, TASKS[number % len(TASKS)])
                finished += done
                print(
                    f"run {number + 1}: {'ended' if done else 'did not end'}, {asked} questions, "
                    f"{time.monotonic() - begun:.1f} s",
                    flush=True,
                )
            print(f"{finished} of {runs} ended")
            tell(moot, session_id)
        finally:
            await moot.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
