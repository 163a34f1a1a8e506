"""No model answers but the one that was chosen: a second server, which is ready and comes first, is asked nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repeats import slow_after
from tests.stories.every_kind import NAMES, answer
from tests.stories.group_crew import call
from tests.stories.processes import moot
from tests.stories.test_workflow import ROLES
from tests.wire import Answer, Fault, WireServer
from tests.wire.providers_file import write_providers
from tests.wire.server import Recorded

CHOSEN = "chosen/chosen-wire"
TWO = tuple(part for name in NAMES for part in ("-p", f"{name}={CHOSEN}"))
COMMANDS = {
    "chat": ("ask", "keeper", "Keep my list."),
    "sub-agent": ("ask", "caller", "Ask Ann."),
    "group": ("ask", "crew", "Make it."),
    "debate": ("debate", "Which came first?", *TWO, "--rounds", "2", "--verdict"),
    "council": ("council", "Which came first?", *TWO, "--debate", "--rounds", "1"),
    "workflow": ("workflow", "Fix the login loop"),
}
# Nobody waits as long as this asks for, so that no request is repeated.
FAULTS = {
    "key": Fault("e401"),
    "mid": Fault("rstmid"),
    "gone": Fault("e404"),
    "failed": Fault("e500", retry_after=500.0),
    "limit": Fault("rate429", retry_after=500.0),
    "empty": Fault("empty"),
    "slow": Answer("At last.", delay=2.0),
}


@pytest.fixture
def servers(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[WireServer, WireServer]]:
    """Yield the server that everybody uses, and one that is ready and listed before it."""
    with (
        WireServer("openai", provider_id="chosen", models=("chosen-wire",)) as chosen,
        WireServer("openai", provider_id="other", models=("other-wire",)) as other,
    ):
        for name, value in write_providers(data_dir, (other, chosen)).items():
            monkeypatch.setenv(name, value)
        _furnish(data_dir)
        yield chosen, other


def _furnish(data_dir: Path) -> None:
    agents: dict[str, dict[str, object]] = {
        "ann": {"name": "Ann", "tools": ["planning", "ask"]},
        "bo": {"name": "Bo"},
        "keeper": {"name": "Keeper", "tools": ["planning"]},
        "caller": {"name": "Caller", "tools": ["subAgent"], "sub_agents": ["ann"]},
    }
    agents |= {agent_id: {"name": agent_id.title(), "role": role} for agent_id, (role, _) in ROLES.items()}
    leader = {"provider": "chosen", "model": "chosen-wire"}
    for folder in ("assistants", "groups"):
        (data_dir / folder).mkdir()
    for agent_id, values in agents.items():
        document = {"version": 1, "id": agent_id, **leader, **values}
        (data_dir / "assistants" / f"{agent_id}.json").write_text(json.dumps(document), encoding="utf-8")
    group = {"version": 1, "id": "crew", "name": "Crew", "members": ["ann", "bo"], "orchestrator": leader}
    (data_dir / "groups" / "crew.json").write_text(json.dumps(group), encoding="utf-8")


def _asks_ann(request: Recorded) -> Answer:
    if any(message.role == "tool" for message in request.messages) or "subAgent" not in request.tools:
        return answer(request)
    return Answer(calls=(call("subAgent", name="ann", task="Say it."),))


# Where the fault comes: at the first request, the second, and in sessions with more of them at the fourth.
LONG = ("chat", "debate", "workflow")
CASES = [
    pytest.param(kind, trouble, before, id=f"{kind}-{trouble}-{before}")
    for trouble, before in (("down", 0), *((name, at) for name in FAULTS for at in (0, 1, 3)))
    for kind in (COMMANDS if before < 3 else LONG)
]


@pytest.mark.parametrize(("kind", "trouble", "before"), slow_after(len(COMMANDS), CASES))
def test_the_other_server_is_asked_nothing(
    servers: tuple[WireServer, WireServer], kind: str, trouble: str, before: int
) -> None:
    chosen, other = servers
    if trouble == "down":
        chosen.close()
    else:
        left = iter(range(before))
        chosen.script(
            chosen.model, lambda asked: FAULTS[trouble] if next(left, None) is None else _asks_ann(asked)
        )
    done = moot(*COMMANDS[kind], "--json")
    assert done.events, done.err
    said = [one["message"] for one in done.events if one["event"] == "message.finished"]
    assert not [one for one in said if "other-wire" in json.dumps(one)]
    assert (other.requests, other.title_requests, other.check_requests) == ([], [], [])
    if trouble == "down":
        assert done.status in {1, 4} and not chosen.requests
        assert [one["state"] for one in said if one["role"] == "assistant"][-1:] in ([], ["failed"])
    else:
        assert len(chosen.requests) > before
