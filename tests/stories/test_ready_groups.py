"""The groups that come with Moot: each is what `share` writes, comes in whole, and really works on the wires."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.definitions import Agent, Group
from app.core.message import Role
from app.core.session import GroupSession, Status
from app.storage.paths import resources_dir
from app.wiring import open_moot
from tests.wire import Answer, WireCall, WireServer, write_providers
from tests.wire.server import Recorded

FOLDER = resources_dir() / "groups"
STEMS = tuple(sorted(path.stem for path in (FOLDER / "en").glob("*.json")))
TOLD_LEAST, TOLD_MOST = 80, 600
REPORT = "All of us have done our part."


def document(stem: str, language: str = "en") -> dict[str, object]:
    return json.loads((FOLDER / language / f"{stem}.json").read_text("utf-8"))


def test_the_five_are_there_in_both_languages() -> None:
    names = {language: {str(document(stem, language)["name"]) for stem in STEMS} for language in ("en", "ko")}
    assert names["en"] == {"Release team", "Research desk", "Thesis jury", "Red team", "Trip plan"}
    assert names["ko"] == {"릴리스 팀", "조사 팀", "논문 심사단", "레드 팀", "여행 계획"}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_two_members_are_told_the_same_and_none_too_much(language: str) -> None:
    members = [member for stem in STEMS for member in document(stem, language)["members"]]  # type: ignore[attr-defined]
    told = [member["instructions"] for member in members]
    assert len(set(told)) == len(told)
    assert all(TOLD_LEAST <= len(text) <= TOLD_MOST for text in told)
    assert len({member["id"] for member in members}) == len(members)
    assert all(member["description"] and member["role"] for member in members)


@pytest.mark.parametrize("stem", STEMS)
async def test_each_comes_in_with_its_members_and_is_shared_again_as_it_was(
    data_dir: Path, stem: str
) -> None:
    moot = await open_moot(data_dir)
    try:
        shared = moot.engine.groups.ready_made()[stem]
        assert shared.dropped == ()
        assert [one.dropped for one in shared.members] == [()] * len(shared.members)
        assert not moot.engine.groups.all(), "nothing is kept before it is asked for"
        group = await moot.engine.groups.bring_in(shared)
        agents = [moot.engine.assistants.find(member) for member in group.members]
        assert all((one.provider, one.model, one.mcp_servers) == ("", "", ()) for one in agents)
        assert group.orchestrator.model == ""
        expected = document(stem)
        expected["orchestrator"] |= {"effort": "auto", "creativity": "auto", "length": "auto"}
        expected["members"] = [{**member, "skills": []} for member in expected["members"]]
        assert json.loads(moot.engine.groups.share(group.id)) == expected
        again = await moot.engine.groups.bring_in(moot.engine.groups.ready_made()[stem])
        assert again.members == group.members, "who is there already is not made anew"
        assert again.id != group.id
    finally:
        await moot.close()


@pytest.mark.parametrize("stem", STEMS)
async def test_each_does_its_work_on_a_wire(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, stem: str
) -> None:
    with WireServer("openai") as server:
        for name, value in write_providers(data_dir, [server]).items():
            monkeypatch.setenv(name, value)
        moot = await open_moot(data_dir)
        try:
            engine = moot.engine
            group = await engine.groups.bring_in(engine.groups.ready_made()[stem])
            members = [engine.assistants.find(member) for member in group.members]
            server.script(server.model, _acting(group, members))
            session_id = await engine.groups.start(group.id, "Do what you are for.")
            await engine.wait(session_id)
            live = await engine.open(session_id)
            assert isinstance(live.session, GroupSession)
            assert live.session.status == Status.IDLE
            said = [
                (one.author.name, one.content)
                for one in live.messages
                if one.role == Role.ASSISTANT and one.content
            ]
            assert [said for said in said if said[0] in [one.name for one in members]] == [
                (one.name, f"I am {one.name}.") for one in members
            ]
            assert said[-1][1] == REPORT
        finally:
            await moot.close()


def _acting(group: Group, members: list[Agent]) -> Callable[[Recorded], Answer]:
    """Return a model that hands the work to each member in turn, acts as each of them, and reports."""

    def reply(request: Recorded) -> Answer:
        for member in members:
            if member.instructions in request.system:
                return Answer(f"I am {member.name}.")
        assert group.instructions in request.system
        heard = "\n".join(message.text for message in request.messages)
        left = [member.name for member in members if f"I am {member.name}." not in heard]
        if left:
            return _call("switchAssistant", assistant=left[0], instruction="Do your part.")
        return _call("reportResult", result_in_detail=REPORT)

    return reply


def _call(tool: str, /, **arguments: object) -> Answer:
    return Answer(calls=(WireCall(name=tool, arguments=json.dumps(arguments, ensure_ascii=False)),))
