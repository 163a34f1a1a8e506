"""What the user writes while a group works reaches it before its next turn."""

import asyncio
from pathlib import Path

from app.core.draft import Draft
from app.core.provider import ModelRequest
from app.core.session import Status
from tests.builders import Script, until
from tests.engine.group_tools import hand
from tests.engine.test_group import bench
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import calling, status


async def test_what_is_written_meanwhile_reaches_the_group_before_its_next_turn(tmp_path: Path) -> None:
    gate, steps = asyncio.Event(), iter([calling(hand("ann")), ["All is done."]])

    def answer(request: ModelRequest) -> Script:
        return next(steps) if who(request) == "orchestrator" else ["I work", gate]

    made = bench(tmp_path, answer)
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: any(one.content == "I work" for one in made.messages(session_id)))
    await made.engine.chats.send(session_id, "Also add a map.")
    gate.set()
    await made.engine.wait(session_id)
    told = ["Also add a map." in str(one.messages) for one in made.models.requests]
    assert told == [False, False, True], "it came after the report"
    assert status(made, session_id) == Status.IDLE


async def test_a_message_that_is_still_edited_waits_and_the_group_goes_on(tmp_path: Path) -> None:
    gate, steps = asyncio.Event(), iter([calling(hand("ann")), ["All is done."], ["And the map."]])

    def answer(request: ModelRequest) -> Script:
        return next(steps) if who(request) == "orchestrator" else ["I work", gate]

    made = bench(tmp_path, answer)
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await until(lambda: any(one.content == "I work" for one in made.messages(session_id)))
    await made.engine.chats.send(session_id, "Also add a map.")
    [queued] = made.engine.live(session_id).chat_session.chat.queue
    made.engine.drafts.keep(session_id, Draft(queued={queued.id: "Also add"}))
    gate.set()
    await made.engine.wait(session_id)
    assert made.messages(session_id)[-1].content == "All is done."
    assert [one.id for one in made.engine.live(session_id).chat_session.chat.queue] == [queued.id]
