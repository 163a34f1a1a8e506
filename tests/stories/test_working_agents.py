"""External agents that work in a folder: allowed first, asked about what they want to do, and told of in the chat."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.children.processes import living
from app.cli.printing.lines import load_texts
from app.core.definitions import Agent, Group, Leader, WorkflowDefinition, WorkflowStep
from app.core.errors import BadInput
from app.core.message import Attachment, Consent, Message, MessageState, PromptReason, Role, Total, money_text
from app.core.session import Session, Status
from app.engine.chat.commands import answers_of
from app.gui.transcript.row_words import error_of
from app.wiring import Moot, open_moot
from tests.app_driver import until
from tests.providers.external import all_below, tiny, told
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

pytestmark = pytest.mark.allow_blocking

Open = Callable[[], Awaitable[Moot]]


@pytest.fixture
async def opened(data_dir: Path) -> AsyncIterator[Open]:
    """Open Moot on the test's data directory; the one before it is closed."""
    running: list[Moot] = []

    async def close() -> None:
        while running:
            await running.pop().close()

    async def again() -> Moot:
        await close()
        running.append(await open_moot(data_dir))
        return running[0]

    yield again
    await close()


class Work:
    """A folder, and assistants that are tiny agents which work in it."""

    def __init__(self, moot: Moot, root: Path) -> None:
        self.moot = moot
        self.engine = moot.engine
        self.root = root
        self.folder = root / "project"
        self.folder.mkdir(exist_ok=True)

    async def add(self, does: str, **fields: object) -> str:
        """Add an assistant that is a tiny agent; return its id."""
        config = tiny(does, self.journal(does))
        await self.engine.connections.allow_agent(config)
        values = {"name": does.title(), "provider": config.id, "model": "default", "folder": str(self.folder)}
        agent = await self.engine.assistants.save(Agent(id="", **values | fields))  # type: ignore[arg-type]
        return agent.id

    def journal(self, does: str) -> Path:
        return self.root / f"{does}.journal"

    def open_questions(self) -> list[Message]:
        return [question for _, question in self.engine.chats.needs_you()]

    async def question(self, reason: str) -> Message:
        """Return the open question of a reason once it is there."""
        await until(lambda: [one.prompt.reason for one in self.open_questions() if one.prompt] == [reason])
        return self.open_questions()[0]

    async def answer(self, session_id: str, reason: str, answer: str) -> None:
        question = await self.question(reason)
        await self.engine.chats.answer(session_id, question.id, answer)

    async def start(
        self, agent_id: str, text: str = "Look at the notes.", answer: str = Consent.ALWAYS
    ) -> str:
        """Begin a chat and let the agent work in its folder; "" where it may already."""
        session_id = await self.engine.chats.start(agent_id, text)
        if answer:
            await self.answer(session_id, PromptReason.AGENT_WORKS, answer)
        return session_id

    async def ended(self, session_id: str) -> Session:
        return await self.engine.wait(session_id)

    def messages(self, session_id: str) -> list[Message]:
        live = self.engine.live(session_id)
        assert live is not None
        return [*live.whole_messages()]

    def said(self, session_id: str) -> list[str]:
        spoken = [one for one in self.messages(session_id) if one.role == Role.ASSISTANT]
        return [one.content for one in spoken if one.content]

    def calls(self, session_id: str) -> list[tuple[str, str]]:
        """Return what was reported: each call's name and the state of its result."""
        messages = self.messages(session_id)
        results = {one.tool_call_id: one.state for one in messages if one.role == Role.TOOL}
        calls = [call for one in messages for call in one.tool_calls if call.id in results]
        return [(call.name, results[call.id]) for call in calls]


@pytest.fixture
async def work(opened: Open, tmp_path: Path) -> Work:
    return Work(await opened(), tmp_path)


@pytest.mark.parametrize("does", ["edit", "edit-bare"])
@pytest.mark.parametrize(("answer", "end"), [(Consent.ALLOW, "Written."), (Consent.DENY, "Not written.")])
async def test_what_an_agent_wants_to_do_is_asked_and_what_it_did_is_shown(
    work: Work, does: str, answer: str, end: str
) -> None:
    session_id = await work.start(await work.add(does))
    question = await work.question(PromptReason.AGENT_ASKS)
    assert question.prompt is not None
    assert question.prompt.tool == "Write notes.txt" and "hello" in question.prompt.arguments
    assert not (work.folder / "notes.txt").exists()
    await work.engine.chats.answer(session_id, question.id, answer)
    assert (await work.ended(session_id)).status == Status.IDLE
    allowed = answer == Consent.ALLOW
    assert (work.folder / "notes.txt").exists() == allowed
    assert work.said(session_id) == ["I look.", end]
    used = work.messages(session_id)[-1].usage
    assert used is not None and money_text(load_texts("en"), Total.of(used)) == "covered by your subscription"
    assert work.calls(session_id) == [
        ("agent_read", MessageState.DONE),
        ("agent_edit", MessageState.DONE if allowed else MessageState.FAILED),
    ]


@pytest.mark.parametrize(("answer", "option"), [("option-1", "all"), ("option-2", "none")])
async def test_the_own_options_of_an_agent_are_answers_in_its_words(
    work: Work, answer: str, option: str
) -> None:
    session_id = await work.start(await work.add("edit-more"))
    question = await work.question(PromptReason.AGENT_ASKS)
    assert question.prompt is not None and question.prompt.options == ("All edits", "Edits of this file")
    assert answers_of(question.prompt) == ["allow", "option-1", "option-2", "deny"]
    for unfit in ("option-3", Consent.ALWAYS):
        with pytest.raises(BadInput):
            await work.engine.chats.answer(session_id, question.id, unfit)
    await work.engine.chats.answer(session_id, question.id, answer)
    await work.ended(session_id)
    [told_to_it] = [json.loads(one["text"]) for one in told(work.journal("edit-more"), "answer")]
    assert told_to_it["result"]["outcome"] == {"outcome": "selected", "optionId": option}
    assert (work.folder / "notes.txt").exists() == (option == "all")
    # Moot itself remembers nothing of it but the permission to work.
    assert len(work.engine.live(session_id).session.always) == 1  # type: ignore[union-attr]


async def test_an_agent_that_may_not_work_is_not_started(work: Work) -> None:
    session_id = await work.start(await work.add("edit"), answer=Consent.DENY)
    assert (await work.ended(session_id)).status == Status.IDLE
    [failed] = [one for one in work.messages(session_id) if one.role == Role.ASSISTANT]
    assert failed.error is not None and failed.error.kind == "agent_refused"
    assert not work.journal("edit").exists()


@pytest.mark.threat("T12")
async def test_a_permission_to_work_is_for_one_folder_and_can_be_revoked(work: Work) -> None:
    agent_id = await work.add("say")
    await work.ended(await work.start(agent_id, answer=Consent.FOREVER))
    other = await work.start(agent_id, answer="")
    await work.ended(other)
    assert not work.open_questions()
    elsewhere = work.root / "elsewhere"
    elsewhere.mkdir()
    agent = work.engine.assistants.get(agent_id)
    assert agent is not None
    await work.engine.assistants.save(replace(agent, folder=str(elsewhere)))
    await work.start(agent_id, answer=Consent.ALWAYS)
    await work.engine.assistants.save(replace(agent, folder=str(work.folder)))
    lasting, in_session = work.engine.permissions.all()
    assert (lasting.server, lasting.count, lasting.session_id) == ("say", 1, "")
    assert (in_session.server, in_session.count, in_session.gone) == ("say", 1, False)
    await work.engine.permissions.revoke(in_session)
    await work.engine.permissions.revoke(lasting)
    assert work.engine.permissions.all() == ()
    await work.start(agent_id, answer=Consent.DENY)


async def test_a_session_is_gone_on_with_and_asked_once(work: Work) -> None:
    session_id = await work.start(await work.add("say"), "First.")
    await work.ended(session_id)
    await work.engine.chats.send(session_id, "Second.")
    await work.ended(session_id)
    # No title is asked for: it would take a turn.
    first, second = [one["text"] for one in told(work.journal("say"), "prompt")]
    assert "First." in first and "Second." in second and "First." not in second
    assert len(told(work.journal("say"), "new")) == 1
    assert json.loads(told(work.journal("say"), "new")[0]["text"])["cwd"] == str(work.folder)


@pytest.mark.parametrize("does", ["say", "resume-lost"])
async def test_after_a_restart_the_session_is_resumed_or_told_everything(
    work: Work, opened: Open, does: str
) -> None:
    session_id = await work.start(await work.add(does), "First.", answer=Consent.FOREVER)
    await work.ended(session_id)
    work = Work(await opened(), work.root)
    await work.engine.open(session_id)
    await work.engine.chats.send(session_id, "Second.")
    await work.ended(session_id)
    last = told(work.journal(does), "prompt")[-1]["text"]
    assert ("First." in last) == (does == "resume-lost") and "Second." in last
    assert len(told(work.journal(does), "resume")) == 1
    assert work.said(session_id) == ["I say this."] * 2


async def test_a_changed_conversation_is_told_to_a_new_session(work: Work) -> None:
    session_id = await work.start(await work.add("say"), "First.")
    await work.ended(session_id)
    await work.engine.chats.send(session_id, "Second.")
    await work.ended(session_id)
    asked = next(one for one in work.messages(session_id) if one.content == "First.")
    await work.engine.chats.edit(session_id, asked.id, "Otherwise.")
    await work.ended(session_id)
    await work.engine.chats.send(session_id, "Third.")
    await work.ended(session_id)
    prompts = [one["text"] for one in told(work.journal("say"), "prompt")]
    assert "Otherwise." in prompts[2] and "Second." not in prompts[2]
    assert "Third." in prompts[3] and "Otherwise." not in prompts[3]


async def test_another_version_of_an_answer_is_given_by_a_session_that_does_not_know_the_first(
    work: Work, opened: Open
) -> None:
    session_id = await work.start(await work.add("say"), "First.", answer=Consent.FOREVER)
    await work.ended(session_id)
    await work.engine.chats.send(session_id, "Second.")
    await work.ended(session_id)
    answer = work.messages(session_id)[-1]
    await work.engine.chats.retry(session_id, answer.id)
    await work.ended(session_id)
    # The session of the first version goes on with that one, also after a restart.
    work = Work(await opened(), work.root)
    await work.engine.open(session_id)
    await work.engine.chats.choose_version(session_id, answer.turn_id)
    await work.engine.chats.send(session_id, "Third.")
    await work.ended(session_id)
    prompts = [one["text"] for one in told(work.journal("say"), "prompt")]
    assert ["First." in one for one in prompts] == [True, False, True, False]
    assert [one["kind"] for one in told(work.journal("say")) if one["kind"] in ("new", "resume")] == [
        *("new", "new", "resume")
    ]


async def test_a_turn_that_was_stopped_is_told_whole_to_a_new_session(work: Work) -> None:
    session_id = await work.start(await work.add("edit"), "First.")
    await work.question(PromptReason.AGENT_ASKS)
    await work.engine.stop(session_id)
    assert not work.open_questions()
    await until(lambda: told(work.journal("edit"), "cancel") != [])
    # The program was told that nobody answers any more.
    await until(lambda: told(work.journal("edit"), "answer") != [])
    [answer] = [json.loads(one["text"]) for one in told(work.journal("edit"), "answer")]
    assert answer["result"]["outcome"] == {"outcome": "cancelled"}
    await work.engine.chats.send(session_id, "Second.")
    await work.answer(session_id, PromptReason.AGENT_ASKS, Consent.ALLOW)
    await work.ended(session_id)
    last = told(work.journal("edit"), "prompt")[-1]["text"]
    assert "First." in last and "[You, earlier]: I look." in last and "Second." in last
    assert len(told(work.journal("edit"), "new")) == 2


async def test_the_plan_of_an_agent_is_a_row(work: Work) -> None:
    session_id = await work.start(await work.add("plan"))
    await work.ended(session_id)
    assert work.calls(session_id) == [("agent_plan", MessageState.DONE)]
    [result] = [one for one in work.messages(session_id) if one.role == Role.TOOL]
    assert result.content == "✓ Look\n– Write"
    assert work.engine.live(session_id).session.plan is None  # type: ignore[union-attr]


async def test_stop_cancels_the_turn_and_what_the_agent_ran(work: Work) -> None:
    session_id = await work.start(await work.add("shell"))
    await until(lambda: bool(told(work.journal("shell"), "orphan")) and len(work.calls(session_id)) == 1)
    await work.engine.stop(session_id)
    await until(lambda: told(work.journal("shell"), "cancel") != [])
    live = work.engine.live(session_id)
    assert live is not None and live.session.status == Status.STOPPED
    assert [state for _, state in work.calls(session_id)] == [MessageState.STOPPED]


async def failure(work: Work, does: str) -> str:
    """Return in words why the turn of an agent failed."""
    session_id = await work.start(await work.add(does))
    await work.ended(session_id)
    failed = [one for one in work.messages(session_id) if one.error][-1]
    return error_of(failed, load_texts("en"))


@pytest.mark.threat("T10")
@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("many-acts", "more than 500 tool calls"),
        pytest.param("flood", "5000 messages that nobody asked for", marks=pytest.mark.slow),
    ],
)
async def test_an_agent_that_floods_is_ended_with_the_reason(work: Work, does: str, words: str) -> None:
    assert words in await failure(work, does)


@pytest.mark.threat("T11")
async def test_an_agent_in_a_mode_that_asks_nobody_is_stopped(work: Work) -> None:
    words = await failure(work, "unasked-mode")
    assert "did not run with the model or mode it was set to" in words and "yolo" in words
    assert not told(work.journal("unasked-mode"), "prompt")


@pytest.mark.threat("T14")
@pytest.mark.parametrize("does", ["forged", "lasting-only"])
async def test_requests_that_cannot_be_put_to_the_user_are_refused(work: Work, does: str) -> None:
    session_id = await work.start(await work.add(does))
    assert (await work.ended(session_id)).status == Status.IDLE
    assert not work.open_questions() and not (work.folder / "notes.txt").exists()
    answers = [json.loads(one["text"]) for one in told(work.journal(does), "answer")]
    assert answers and all(one["result"]["outcome"]["optionId"] == "no" for one in answers)


async def test_a_picture_reaches_an_agent_that_takes_them(work: Work) -> None:
    picture = Attachment(name="plan.png", media_type="image/png", data="QUJD")
    for does in ("pictures", "say"):
        agent_id = await work.add(does)
        agent = work.engine.assistants.find(does.title())
        assert (await work.engine.test_provider(agent.provider)).ok
        [model] = work.engine.models_for(agent)
        assert model.images == (does == "pictures")
        session_id = await work.engine.chats.start(agent_id, "Look.", (picture,))
        await work.answer(session_id, PromptReason.AGENT_WORKS, Consent.ALLOW)
        await work.ended(session_id)
        [prompt] = told(work.journal(does), "prompt")
        seen = "<image/png QUJD>" if does == "pictures" else "File plan.png:\n(An image that you cannot see.)"
        assert seen in prompt["text"] and ("QUJD" in prompt["text"]) == (does == "pictures")


async def test_what_was_stopped_is_by_the_subscription_too(work: Work) -> None:
    session_id = await work.start(await work.add("slow"))
    await until(lambda: "I begin" in work.messages(session_id)[-1].content)
    await work.engine.stop(session_id)
    used = [one.usage for one in work.messages(session_id) if one.usage is not None]
    assert {money_text(load_texts("en"), Total.of(one)) for one in used} == {"covered by your subscription"}


@pytest.mark.threat("T15")
async def test_an_agent_works_for_another_assistant(wire_home: dict[str, WireServer], work: Work) -> None:
    """A sub-agent's questions are its own: its caller's permission does not hold for it."""
    helper = await work.add("edit")
    lead = Agent(id="", name="Lead", provider="openai", model="openai-wire", sub_agents=(helper,))
    lead = await work.engine.assistants.save(replace(lead, tools=("subAgent",)))
    calls = (WireCall("subAgent", json.dumps({"name": helper, "task": "Write the notes."})),)
    wire_home["openai"].script("openai-wire", [Answer(calls=calls), "It is written."])
    session_id = await work.start(lead.id)
    await work.answer(session_id, PromptReason.AGENT_ASKS, Consent.ALLOW)
    await work.ended(session_id)
    assert (work.folder / "notes.txt").exists()
    assert work.said(session_id) == ["I look.", "Written.", "It is written."]
    # The caller reads what the agent said last, and nothing of what it did.
    told_to_lead = json.dumps(wire_home["openai"].requests[-1].body)
    assert "Written." in told_to_lead and "agent_edit" not in told_to_lead and "I look." not in told_to_lead


async def test_an_agent_is_a_member_of_a_group(wire_home: dict[str, WireServer], work: Work) -> None:
    member = await work.add("edit", name="Writer")
    group = Group(
        id="", name="Crew", members=(member,), orchestrator=Leader(provider="openai", model="openai-wire")
    )
    group = await work.engine.groups.save(group)
    hand = WireCall("switchAssistant", json.dumps({"assistant": member, "instruction": "Write the notes."}))
    wire_home["openai"].script("openai-wire", [Answer(calls=(hand,)), "It is written."])
    session_id = await work.engine.groups.start(group.id, "We need notes.")
    await work.answer(session_id, PromptReason.AGENT_WORKS, Consent.ALLOW)
    await work.answer(session_id, PromptReason.AGENT_ASKS, Consent.ALLOW)
    await work.ended(session_id)
    assert work.said(session_id) == ["I look.", "Written.", "It is written."]


async def test_an_agent_cannot_lead_a_group(work: Work) -> None:
    """It has no tool to hand work over with: refused where it is saved, and at the start where it was added since."""
    member = await work.add("say", name="Writer")
    group = Group(id="", name="Crew", members=(member,), orchestrator=Leader(provider="agent-say", model="x"))
    with pytest.raises(BadInput, match="group_external_leader"):
        await work.engine.groups.save(group)
    group = await work.engine.groups.save(
        replace(group, orchestrator=Leader(provider="agent-edit", model="x"))
    )
    await work.add("edit")
    with pytest.raises(BadInput, match="group_external_leader"):
        await work.engine.groups.start(group.id, "We need notes.")


async def test_an_agent_does_the_step_of_a_workflow(wire_home: dict[str, WireServer], work: Work) -> None:
    await work.add("edit", name="Writer", role="Writer")
    step = WorkflowStep(id="a", name="Write", role="Writer", prompt="Write the notes.")
    definition = await work.engine.workflows.save(WorkflowDefinition(id="", name="Notes", steps=(step,)))
    session_id = await work.engine.workflows.start("We need notes.", definition.id)
    await work.answer(session_id, PromptReason.AGENT_WORKS, Consent.ALLOW)
    await work.answer(session_id, PromptReason.AGENT_ASKS, Consent.ALLOW)
    await until(lambda: "Written." in work.said(session_id))
    assert (work.folder / "notes.txt").exists()
    await work.engine.stop(session_id)


async def test_another_model_is_told_nothing_of_what_an_agent_did(
    wire_home: dict[str, WireServer], work: Work
) -> None:
    session_id = await work.start(await work.add("edit"))
    await work.answer(session_id, PromptReason.AGENT_ASKS, Consent.ALLOW)
    await work.ended(session_id)
    assistant = Agent(id="", name="Ada", provider="openai", model="openai-wire")
    other = await work.engine.assistants.save(assistant)
    await work.engine.chats.choose_assistant(session_id, other.id)
    wire_home["openai"].script("openai-wire", ["Fine."])
    await work.engine.chats.send(session_id, "Second.")
    await work.ended(session_id)
    assert work.said(session_id)[-1] == "Fine."
    sent = json.dumps(wire_home["openai"].requests[-1].body)
    assert "Written." in sent and "agent_edit" not in sent


async def test_a_cut_call_is_asked_about_before_the_agent_goes_on(work: Work, opened: Open) -> None:
    session_id = await work.start(await work.add("shell"), answer=Consent.FOREVER)
    journal = work.journal("shell")
    await until(lambda: bool(told(journal, "orphan")) and len(work.calls(session_id)) == 1)
    pid = int(told(journal, "orphan")[0]["text"])
    left = all_below(pid)
    await work.engine.pause(session_id)
    await work.engine.pause(session_id)
    await work.ended(session_id)
    work = Work(await opened(), work.root)
    await until(lambda: not living(left))
    await work.engine.open(session_id)
    await work.engine.resume(session_id)
    question = await work.question(PromptReason.MAY_HAVE_RUN)
    await work.engine.chats.answer(session_id, question.id, Consent.ALLOW)
    await until(lambda: len(told(journal, "prompt")) == 2)
    assert (
        "cut off" in told(journal, "prompt")[1]["text"] and "sleep 600" in told(journal, "prompt")[1]["text"]
    )
    await work.engine.stop(session_id)
