"""The commands that steer a group at work."""

from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.core.session import GroupSession
from tests.builders import Hang, Script, until
from tests.engine.test_group import acting, bench, hand, run, talk
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import calling


async def test_asking_before_hand_overs_can_be_switched_while_the_group_works(tmp_path: Path) -> None:
    made = bench(tmp_path, acting(calling(hand("ann"))))
    session_id = await run(made)
    await made.engine.groups.ask_before_hand_over(session_id, True)
    live = made.engine.live(session_id)
    assert live is not None
    assert isinstance(live.session, GroupSession)
    assert live.session.group.ask_before_hand_over
    chat = await made.engine.chats.start("ann", "Hello.")
    await made.engine.wait(chat)
    with pytest.raises(BadInput, match="not_a_group"):
        await made.engine.groups.ask_before_hand_over(chat, True)


@pytest.mark.parametrize("first", [(), ("Half a wo",)])
async def test_go_on_without_a_member_that_hangs_before_or_after_its_first_word(
    tmp_path: Path, first: Script
) -> None:
    script = acting(
        calling(hand("ann")), calling(("reportResult", {"result_in_detail": "Without Ann, then."}))
    )
    made = bench(tmp_path, lambda request: (*first, Hang()) if who(request) == "ann" else script(request))
    session_id = await made.engine.groups.start("crew", "Ship it.")
    live = made.engine.live(session_id)
    assert live is not None
    await until(lambda: "ann" in {who(one) for one in made.models.requests})
    if first:
        await until(lambda: any(live.text_of(one.id) for one in live.streaming()))
    await made.engine.groups.go_on_without(session_id)
    await made.engine.wait(session_id)
    assert talk(made, session_id)[-1] == ("orchestrator", "Without Ann, then.")
    lost = [one for one in live.messages if one.error and one.error.kind == "skipped"]
    assert [(one.author.id, one.author.name) for one in lost] == [("ann", "Ann")]
    with pytest.raises(BadInput, match="nobody_hangs"):
        await made.engine.groups.go_on_without(session_id)
