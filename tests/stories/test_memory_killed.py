"""SIGKILL between a proposal to remember and the user's word: the card is still there, and answered once."""

import json
from pathlib import Path

from app.core.memory import REMEMBER
from app.wiring import open_moot
from tests.stories.group_crew import call, write_assistant
from tests.stories.processes import Running, children_of, moot, wait_until_gone
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]


async def test_a_kill_before_the_users_word_leaves_the_card(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[REMEMBER])
    proposal = call(REMEMBER, text="Mina has two dogs.", **{"for": "me"})
    wire_home["openai"].script("openai-wire", [Answer(calls=(proposal,)), Answer("Noted.", delay=30.0)])
    with Running("ask", "ann", "I have two dogs.", "--json") as running:
        running.wait_for(lambda: any("memory.proposed" in line for line in running.lines))
        children = children_of(running.pid)
        running.kill_alone()
        assert wait_until_gone(children) == []
        told = next(json.loads(line) for line in running.lines if "memory.proposed" in line)
    assert (told["event"], told["text"], told["agent"]) == ("memory.proposed", "Mina has two dogs.", "ann")

    after = await open_moot(data_dir)
    [(live, message)] = await after.engine.memory.open()
    assert (live.id, message.id) == (told["session_id"], told["message_id"])
    await after.engine.memory.keep(live.id, message.id, "Mina has two dogs.", local=False)
    await after.close()
    done = moot("memory", "--json")
    [row] = done.json
    assert (done.status, row["id"], row["text"], row["for"]) == (0, message.id, "Mina has two dogs.", "Ann")
    again = await open_moot(data_dir)
    assert await again.engine.memory.open() == []
    await again.close()


def test_what_may_not_be_kept_ends_with_2(data_dir: Path) -> None:
    for text in ("x" * 501, "sk-ant-api03-" + "Ab3" * 30):
        done = moot("memory", "add", text, "--for", "assistant")
        assert (done.status, done.out) == (2, "") and text not in done.err
    assert moot("memory", "--json").json == []
