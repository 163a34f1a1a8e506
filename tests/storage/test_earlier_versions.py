"""The data of earlier versions, written by themselves: all of it is read, and written back without loss.

`earlier/` has a data folder of each, by the number of its commit in `git rev-list --reverse main`. Each holds a
chat with two versions of an answer, a group, a workflow, a debate, definitions, settings and what is in the trash;
what a version had more, as a council, is there too.
"""

import json
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli.arguments import Arguments
from app.cli.commands.doctor import examine
from app.cli.printing.lines import load_texts
from app.core.council_parts import Differences, Position
from app.core.definitions import StepStatus
from app.core.events import MessageFinished
from app.core.message import CouncilPart, Message, MessageState, Role, SummaryNote, UsageEntry
from app.core.session import DebateMode, Status
from app.engine.live_session import LiveSession
from app.storage.codec import Plain, is_known, kind_of
from app.storage.log import read_log
from app.storage.paths import DEFINITIONS, DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.usage_ledger import UsageFile, read_ledger
from app.wiring import Moot, open_moot

FOLDER = Path(__file__).parent / "earlier"
MONTH = "2026-11"
VERSIONS = (301, 541, 601, 781, 1021, 1081, 1141)
# A version whose sessions hold what this one does not know: a council's `wanted_judge`.
WITH_UNKNOWN = (1021,)
# What a call of gpt-4o-mini and of gpt-4o cost, with the tokens of the server that was asked.
MINI, FULL = 0.00051, 0.0085

pytestmark = [pytest.mark.allow_blocking, pytest.mark.usefixtures("few_packages")]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest, data_dir: Path) -> int:
    """Return the number of a version whose data is in the data directory of this test."""
    number: int = request.param
    shutil.copytree(FOLDER / str(number), data_dir)
    for path in [data_dir, *data_dir.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    # What is in the trash for thirty days is deleted.
    for path in (data_dir / "trash").iterdir():
        name, _, suffix = path.name.rsplit(".", 2)
        path.rename(path.with_name(f"{name}.{int(time.time())}.{suffix}"))
    return number


@pytest.fixture
async def moot(version: int, data_dir: Path) -> AsyncIterator[Moot]:
    moot = await open_moot(data_dir)
    await moot.engine.drafts.load()
    yield moot
    await moot.close()


async def opened(moot: Moot, kind: str, mode: str = "") -> LiveSession:
    """Return the session of a kind, and of a debate its mode."""
    [found] = [item for item in moot.engine.sessions() if item.kind == kind and mode in ("", item.mode)]
    return await moot.engine.open(found.id)


def said(live: LiveSession) -> list[tuple[str, str]]:
    """Return who said what, without what is empty."""
    return [(item.author.name, item.content) for item in live.whole_messages() if item.content]


# Reading


async def test_the_list_of_sessions(moot: Moot, version: int) -> None:
    found = {(item.kind, item.mode): item for item in moot.engine.sessions()}
    titles = {key: item.title for key, item in found.items()}
    assert titles.pop(("debate", DebateMode.COUNCIL), "Postgres or SQLite?") == "Postgres or SQLite?"
    assert titles == {
        ("chat", ""): "Walk in 京都",
        ("group", ""): "Ship the walk",
        ("workflow", ""): "Make the walk",
        ("debate", DebateMode.ROLES): "Should cities ban cars?",
    }
    assert len(found) == (5 if version > 1000 else 4)
    assert found["debate", DebateMode.ROLES].speakers == ("Ada", "벤")
    assert found["group", ""].speakers == ("Crew",) and found["chat", ""].speakers == ("Ada",)
    assert not any(item.read_only for item in found.values())
    assert moot.engine.problems() == ()


async def test_the_chat(moot: Moot, version: int) -> None:
    live = await opened(moot, "chat")
    messages = list(live.whole_messages())
    [first, second] = [item for item in messages if item.content.startswith("Kyoto:")]
    assert [first.content, second.content] == ["Kyoto: three temples at dawn.", "Kyoto: two gardens at dusk."]
    by_turn = {item.turn_id: item for item in reversed(messages)}
    assert by_turn[first.turn_id].follows == by_turn[second.turn_id].follows == messages[0].turn_id
    assert (first.author.name, first.author.kind, first.author.path) == ("Ada", "main", ("ada",))
    assert (first.model, first.state, first.role) == ("openai/gpt-4o-mini", MessageState.DONE, Role.ASSISTANT)
    assert first.usage is not None and first.usage.cost_usd == pytest.approx(MINI)
    assert (first.usage.input_tokens, first.usage.output_tokens) == (3000, 100)
    [attached] = messages[0].attachments
    assert (messages[0].content, attached.name) == ("Plan a walk in Kyoto", "notes.txt")
    assert attached.text.startswith("Bring water.\nStop 1: walk past") and attached.text.count("\n") == 36
    [goal, todo] = [call for item in messages for call in item.own_calls if "o" in call.name][:2]
    assert (goal.name, json.loads(goal.arguments)) == ("create_goal", {"goal": "Walk in Kyoto"})
    assert todo.name == "add_todo" and "Book the train" in todo.arguments
    [result] = [item for item in messages if item.tool_call_id == goal.id]
    assert (result.role, result.content) == (Role.TOOL, "Goal: Walk in Kyoto")
    plan = live.session.plan
    assert (
        plan is not None
        and plan.goal == "Walk in Kyoto"
        and [item.text for item in plan.items] == ["Book the train"]
    )
    chat = live.chat_session.chat
    assert (chat.assistant_id, chat.assistant_name, live.session.status) == ("ada", "Ada", Status.IDLE)
    if version < 1000:
        [asked] = [item for item in messages if item.prompt is not None]
        assert asked.prompt is not None
        assert (asked.prompt.question, asked.prompt.options, asked.prompt.answer) == (
            "Tea or coffee?", ("Tea", "Coffee"), "Tea",
        )  # fmt: skip
        [answer] = [item for item in messages if item.answers == asked.id]
        assert (answer.content, asked.prompt.answered_by) == ("Tea", answer.id)
        assert "Tea or coffee?" in str(asked.resources[0])
    if version < 1000:
        [checked] = [item for item in messages if item.author.kind == "sub"]
        assert (checked.author.name, checked.author.path, checked.content) == (
            "벤",
            ("ada", "ben"),
            "Sound: no stairs.",
        )
        assert checked.usage is not None and checked.usage.cost_usd == pytest.approx(FULL)
    summaries = [item for item in messages if item.role == Role.SUMMARY]
    assert len(summaries) == (version > 700)
    for summary in summaries:
        assert summary.content.startswith("They planned a walk in Kyoto with tea.\n")
        assert "> Plan a walk in Kyoto" in summary.content and summary.note == SummaryNote.ASKED
        assert summary.through in by_turn and (summary.replaces or 0) > 500
    if version > 1000:
        assert live.session.pinned == (first.id,)
        assert (live.session.folder, chat.instructions) == ("trip", "All about Kyoto.")


async def test_the_group_and_the_workflow(moot: Moot, version: int) -> None:
    live = await opened(moot, "group")
    group = live.group_session.group
    assert (group.id, group.name, group.members, group.turns_limit) == ("crew", "Crew", ("ada", "ben"), 9)
    assert said(live)[0] == ("User", "Ship the walk")
    assert ("벤", "Ben drafted it: temples at dawn.") in said(live)
    assert said(live)[-1] == ("Orchestrator", "The walk is shipped.")
    plan = live.session.plan
    assert [item.text for item in plan.items] == ["Draft it", "Check it"] if plan else version > 1000
    [handed] = [
        call for item in live.whole_messages() for call in item.own_calls if call.name == "switchAssistant"
    ]
    assert json.loads(handed.arguments) == {"assistant": "ben", "instruction": "Draft the walk."}
    live = await opened(moot, "workflow")
    work = live.workflow_session.workflow
    assert (work.definition.name, work.definition.keywords, work.command) == (
        "Walk work",
        ("walk", "산책"),
        "Make the walk",
    )
    count = 1 if version > 1000 else 2
    assert [(item.id, item.role, item.depends_on, item.when_skipped) for item in work.definition.steps] == [
        ("spec", "PO", (), "satisfies"),
        ("build", "BE", ("spec",), "blocks"),
    ][:count]
    assert [(item.id, item.state, item.assistant_id, item.attempt) for item in work.steps] == [
        ("spec", StepStatus.DONE, "ada", 1),
        ("build", StepStatus.DONE, "ben", 1),
    ][:count]
    wrote = "Wrote it down." if version == 301 else "Done: result"
    assert [item.result for item in work.steps] == [wrote] * count
    assert live.session.status == Status.COMPLETED


async def test_the_debate(moot: Moot, version: int) -> None:
    live = await opened(moot, "debate", DebateMode.ROLES)
    debate = live.debate_session.debate
    assert [(item.id, item.name, item.role, item.model) for item in debate.participants] == [
        ("p1", "Ada", "for", "gpt-4o-mini"), ("p2", "벤", "against", "gpt-4o"),
    ]  # fmt: skip
    assert (debate.rounds, debate.seed, live.session.status) == (1, 7, Status.COMPLETED)
    assert said(live) == [("Ada", "Trains first, then the ban. (1)"), ("벤", "Trade needs the cars. (2)")]
    assert [item.round for item in live.whole_messages()] == [1, 1]
    votes = {(item.participant, item.round): item.stance for item in debate.ballots}
    if version == 301:
        assert votes == {} and debate.verdict is None
        return
    assert votes == {("p1", 0): 1, ("p2", 0): -1, ("p1", 1): 2, ("p2", 1): -2}
    costs = {item.participant: item.usage.cost_usd for item in debate.ballots if item.usage is not None}
    assert costs == {"p1": pytest.approx(MINI), "p2": pytest.approx(FULL)}
    assert debate.participants[1].persona == "A shopkeeper."
    verdict, ids = debate.verdict, [item.id for item in live.whole_messages()]
    assert verdict is not None and verdict.usage is not None
    assert [(item.text, item.cites) for item in verdict.answer] == [
        ("A ban needs good trains first.", (ids[0], ids[1]))
    ]
    assert [item.text for item in verdict.agreed] == ["Streets need room for people."]
    assert [(item.text, item.cites) for item in verdict.open] == [("What trade loses.", (ids[1],))]


async def test_the_council(moot: Moot, version: int) -> None:
    if version < 1000:
        assert not ((moot.paths.root / "panels").exists() or (moot.paths.root / "journal").exists())
        return
    live = await opened(moot, "debate", DebateMode.COUNCIL)
    council = live.debate_session.debate.council
    assert council is not None and (council.panel, council.rounds) == ("Two of us", 1)
    by_part: dict[str, list[Message]] = {}
    for item in live.whole_messages():
        by_part.setdefault(item.part, []).append(item)
    assert {item.author.name: item.content for item in by_part[CouncilPart.ANSWER]} == {
        "Ada": "Postgres, because of one file.", "벤": "SQLite, because of one file.",
    }  # fmt: skip
    assert {item.data_as(Position).confidence for item in by_part[CouncilPart.ANSWER]} == {70}
    [differences] = by_part[CouncilPart.DIFFERENCES]
    options = differences.data_as(Differences).options
    assert [option.text for option in options] == ["Postgres", "SQLite"]
    ballots = by_part[CouncilPart.BALLOT]
    assert {item.author.name for item in ballots} == {"Ada", "벤"}
    assert all(item.data_as(Position).confidence == 80 for item in ballots)
    [decision] = moot.engine.journal.all()
    assert (decision.id, decision.decided, decision.sign, decision.due) == (
        live.id, "SQLite", "No lock errors", "2027-01-01",
    )  # fmt: skip
    assert [(item.before, item.model) for item in decision.votes] == [
        ("Postgres", "openai/gpt-4o-mini"), ("SQLite", "openai/gpt-4o"),
    ]  # fmt: skip
    [panel] = moot.engine.councils.panels.all()
    assert (panel.name, panel.rounds, [item.name for item in panel.participants]) == (
        "Two of us",
        1,
        ["Ada", "벤"],
    )


async def test_the_definitions(moot: Moot, version: int) -> None:
    engine = moot.engine
    ada, ben = engine.assistants.find("ada"), engine.assistants.find("ben")
    assert (ada.name, ada.role, ada.provider, ada.model) == ("Ada", "PO", "openai", "gpt-4o-mini")
    assert (ada.instructions, ada.sub_agents, ada.max_steps, ada.version) == (
        "Plan walks.\nBe very brief.", ("ben",), 7, 2,
    )  # fmt: skip
    assert ada.tools == ("create_goal", "add_todo", "toggle_todo", "promptUser", "subAgent")
    assert ada.busy is not None and (ada.busy.timeout_s, ada.busy.depth) == (30.0, 4)
    assert (ada.effort, ada.knows_user) == (("low", False) if version > 700 else ("auto", True))
    assert (ben.name, ben.instructions, ben.max_depth) == ("벤", "걷기를 확인해.", 2)
    assert [item.instructions for item in await engine.assistants.versions("ada")] == [
        "Plan walks.\nBe brief."
    ]
    group = engine.groups.find("crew")
    assert (group.members, group.instructions, group.turns_limit) == (("ada", "ben"), "Hand over once.", 9)
    assert (group.orchestrator.provider, group.orchestrator.model) == ("openai", "gpt-4o-mini")
    work = engine.workflows.find("walkwork")
    assert [item.prompt for item in work.steps] == [
        "WORKFLOWMARK Write the spec.",
        "WORKFLOWMARK Build it.",
    ][: len(work.steps)]
    assert (work.name, work.keywords) == ("Walk work", ("walk", "산책"))
    if version > 1000:
        trip = engine.folders.find("trip")
        assert (trip.name, trip.instructions) == ("Trip", "All about Kyoto.")
    thrown = {item.title: item.kind for item in await engine.archive.files.thrown()}
    assert thrown == {"Gone": "assistant", **({} if version > 1000 else {"Forget this": "chat"})}


async def test_the_small_documents(moot: Moot, version: int) -> None:
    settings = moot.engine.settings()
    assert (settings.theme, settings.language, settings.max_model_calls, settings.max_cost_usd) == (
        "dark", "en", 77, 1.5,
    )  # fmt: skip
    if version > 301:
        assert (settings.text_size, settings.max_month_usd, settings.notifications) == (115, 25.0, False)
        assert settings.shortcuts == ("new_chat=Ctrl+Shift+K",)
        assert moot.engine.drafts.of("new").text == "Half a thought"
        chat = await opened(moot, "chat")
        draft = moot.engine.drafts.of(chat.id)
        assert (draft.text, [item.text for item in draft.attachments]) == ("And then", ["North is up."])
    if version > 700:
        assert (settings.about_user, settings.titles, settings.history) == (
            "I live in Kyoto.",
            False,
            "thrifty",
        )
        setup = moot.engine.drafts.of("setup").setup
        assert setup is not None and (setup.rounds, setup.polls) == (4, True)
        assert [(item.id, item.model, item.role) for item in setup.seats] == [("ada", "gpt-4o", "for")]
    [provider] = [item for item in moot.documents.providers() if item.id == "openai"]
    assert (provider.label, provider.base_url, provider.models) == (
        "Local", "http://127.0.0.1:8931/v1", ("gpt-4o-mini", "gpt-4o"),
    )  # fmt: skip
    [server] = moot.documents.mcp_servers()
    assert (server.name, server.command, server.args, server.disabled) == (
        "files",
        "uvx",
        ("mcp-server-files",),
        True,
    )
    assert moot.documents.consents() == {"f00d" * 8}


async def test_what_calls_cost(moot: Moot, version: int, data_dir: Path) -> None:
    report = await moot.engine.usage.of(MONTH)
    calls = {name: total.calls for name, total in report.models}
    costs = {name: total.known_usd for name, total in report.models}
    assert costs == {
        "openai/gpt-4o-mini": pytest.approx(MINI * calls["openai/gpt-4o-mini"]),
        "openai/gpt-4o": pytest.approx(FULL * calls["openai/gpt-4o"]),
    }
    assert (report.total.unpriced, report.total.used.input_tokens) == (0, 3000 * sum(calls.values()))
    assert dict(await moot.engine.usage.months())[MONTH] == report.total
    # The logs say the same: a call for each message and each vote, also in the trash.
    paid = [
        record["usage"]
        for path in [*data_dir.glob("sessions/*.jsonl"), *data_dir.glob("trash/*.jsonl")]
        for session, messages in [records_of(path)]
        for record in [*messages.values(), *votes_of(session)]
        if record.get("usage")
    ]
    assert len(paid) == report.total.calls


def votes_of(session: Plain) -> list[Plain]:
    """Return the ballots and the verdict of a session's record."""
    debate = session.get("debate") or {}
    return [*debate.get("ballots", []), debate.get("verdict") or {}]


async def test_the_doctor_finds_nothing_lost(version: int, data_dir: Path) -> None:
    lines: list[str] = []

    class Out:
        async def write(self, text: str) -> None:
            lines.append(text)

        async def complain(self, line: str) -> None:
            raise AssertionError(line)

    arguments = Arguments(command="doctor", json=True)
    await examine(DataPaths(data_dir), arguments, Out(), load_texts("en"))
    rows = json.loads("".join(lines))
    assert [row for row in rows if row["check"] in ("files", "sessions") and not row["ok"]] == []
    [sessions] = [row for row in rows if row["check"] == "sessions"]
    assert sessions["found"].split()[0].isdecimal() or str(5 if version > 1000 else 4) in sessions["found"]


# Writing back


def records_of(path: Path) -> tuple[Plain, dict[str, Plain]]:
    """Return the records of a log: the session's, and those of its messages by id."""
    replay = read_log(lambda: path.open("rb"), lambda record: record)
    messages: dict[str, Any] = replay.messages
    return replay.session, messages


def lost(before: object, after: object, at: str = "") -> Iterator[str]:
    """Yield where a JSON value lacks what another one had; what is empty is not written."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            if name in after or value not in (None, "", []):
                yield from lost(value, after.get(name), f"{at}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from lost(item, other, f"{at}[{place}]")
    elif before != after or type(before) is not type(after):
        yield at


async def test_every_session_is_written_back(version: int, data_dir: Path) -> None:
    """Each is renamed, and each message written again; then its log is deleted, and so written whole."""
    paths = DataPaths(data_dir)
    logs = sorted(paths.sessions.glob("*.jsonl"))
    before = {path: records_of(path) for path in logs}
    moot = await open_moot(data_dir)
    for path in logs:
        live = await moot.engine.open(path.stem)
        for message in list(live.messages):
            moot.engine.bus.publish(MessageFinished(session_id=live.id, message=message))
        await moot.engine.chats.rename(live.id, live.session.title + " again")
        await moot.store.flush(live.id)
    await check_written(before)
    for path in logs:
        path.unlink()
        await moot.engine.chats.rename(path.stem, before[path][0]["title"] + " whole")
        await moot.store.flush(path.stem)
    whole = {path: records_of(path) for path in logs}
    await moot.close()
    await check_written(before)
    assert all(session["title"].endswith(" whole") for session, _ in whole.values())
    # What this version does not know is kept with the rest.
    unknown = [session for session, _ in before.values() if not is_known(kind_of(session), session)]
    assert (len(unknown) > 0) == (version in WITH_UNKNOWN)


async def check_written(before: dict[Path, tuple[Plain, dict[str, Plain]]]) -> None:
    """Look whether logs still hold all that they held, but for the title and when it was changed."""
    for path, (session, messages) in before.items():
        now, said_now = records_of(path)
        assert {*lost(session, now)} == {".title", ".updated_at"}
        assert list(said_now) == list(messages)
        assert [*lost(messages, said_now)] == []


async def test_every_definition_is_written_back(version: int, data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    files = [path for name in DEFINITIONS for path in sorted((paths.root / name).glob("*.json"))]
    before = {path: json.loads(path.read_bytes()) for path in files}
    moot = await open_moot(data_dir)
    for path in files:
        store = getattr(moot.documents, path.parent.name)
        [item] = [item for item in store.all() if item.id == before[path]["id"]]
        await store.change(lambda item=item: replace(item, name=item.name + " again"))
    await moot.close()
    for path, record in before.items():
        now = json.loads(path.read_bytes())
        assert now["name"] == record["name"] + " again"
        assert {*lost(record, now)} == {".name", ".version"}
        kept = path.parent / ".versions" / path.stem / f"{record['version']}.json"
        assert json.loads(kept.read_bytes()) == record
    assert len(files) == (8 if version > 1000 else 4)


async def test_the_small_documents_are_written_back(version: int, data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    small = [paths.settings, paths.providers, paths.mcp, paths.consents, *sorted(paths.drafts.glob("*.json"))]
    before = {path: json.loads(path.read_bytes()) for path in small}
    moot = await open_moot(data_dir)
    await moot.engine.drafts.load()
    await moot.engine.change_settings(lambda settings: replace(settings, tray=True))
    await moot.documents.change_providers(lambda all_: tuple(replace(item, window=9_000) for item in all_))
    await moot.documents.change_mcp_servers(lambda all_: tuple(replace(item, cwd="/srv") for item in all_))
    await moot.documents.change_consents(lambda consents: consents | {"beef" * 8})
    for path in paths.drafts.glob("*.json"):
        moot.engine.drafts.keep(path.stem, replace(moot.engine.drafts.of(path.stem), text="Changed"))
    await moot.close()
    changed = {paths.consents: {".consents"}, paths.settings: {".tray"} if version > 301 else set[str]()}
    for path, record in before.items():
        now = json.loads(path.read_bytes())
        assert now != record
        wanted = {".text"} if path.parent == paths.drafts else changed.get(path, set())
        assert {*lost(record, now)} == wanted, path.name
    assert {*before[paths.consents]["consents"]} < {*json.loads(paths.consents.read_bytes())["consents"]}


@pytest.mark.parametrize("kept", [1.0, 0.3], ids=["whole", "an older copy"])
async def test_the_ledger_is_written_back(version: int, data_dir: Path, kept: float) -> None:
    """Another program replaces it while it is open, so that it is made again of what it holds and of the logs."""
    paths = DataPaths(data_dir)
    data = paths.usage.read_bytes() if paths.usage.exists() else b""
    lines = data.splitlines(keepends=True)
    before = {entry.message_id: entry for entry in read_ledger(lines)}
    assert (version == 301) == (before == {})
    store = JsonLogStore(paths)
    ledger = UsageFile(paths, store.in_turn)
    months = await ledger.months()
    other = paths.usage.with_name("other")
    other.write_bytes(b"".join(lines[: round(kept * len(lines))]))
    other.replace(paths.usage)
    ledger.add(UsageEntry(message_id="new", at=f"{MONTH}-30T10:00:00.000Z", cost_usd=0.25))
    calls = await ledger.entries(MONTH)
    await ledger.close()
    await store.close()
    found = {
        entry.message_id: entry for entry in read_ledger(paths.usage.read_bytes().splitlines(keepends=True))
    }
    assert found.pop("new").cost_usd == 0.25
    assert len(calls) == len(found) + 1 == months[MONTH].calls + 1
    assert sum(entry.cost_usd or 0 for entry in found.values()) == pytest.approx(months[MONTH].known_usd)
    for message_id, entry in before.items():
        # What is found in the logs alone has the time at which its message began.
        assert replace(found[message_id], at=entry.at) == entry
        assert kept < 1 or found[message_id] == entry
