"""Every page, panel, list and dialog of the window, one after the other, with something in each of them.

Used by the tests that look at all of them: at what the keyboard reaches, what is cut off, and the language.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.core.council import CastVote, Decision, Option, Participant
from app.core.council_parts import BestCase, JudgedPoint, JudgeReading, Position
from app.core.criteria import Plan, PlanItem
from app.core.definitions import Agent, Group, Leader, StepState, StepStatus, WorkflowDefinition
from app.core.errors import Failure
from app.core.events import MessageFinished, SessionStarted
from app.core.ids import new_id
from app.core.memory import Note
from app.core.message import Author, CouncilPart, Message, PartData, Prompt, PromptType, Usage
from app.core.servers import McpServer
from app.core.session import (
    Chat,
    ChatSession,
    Council,
    Debate,
    DebateMode,
    DebateSession,
    GroupSession,
    GroupState,
    QueuedMessage,
    Session,
    Status,
    WorkflowSession,
    WorkflowState,
)
from app.engine.library.definitions import read_built_in
from app.gui.pages.settings.settings_view import PAGES
from app.gui.widgets.form import Steps
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths, resources_dir
from app.storage.sessions import JsonLogStore
from tests.app_driver import Person, until
from tests.gui.chats import a_tree, agent, call, question, spoke

AT = "2026-11-21T14:02:00.000Z"
DEBATE, CHAT, ASKED, ALLOWED, QUEUED, GROUP, WORK = (new_id() for _ in range(7))
# What a user or a provider wrote: the same in every language.
USERS_WORDS = "Zyx Wvu"
SEATS = (
    Participant(id="p1", name="Zyx Ada", provider="openai", model="gpt-zyx", role="for"),
    Participant(id="p2", name="Zyx Ben", provider="gemini", model="gemini-zyx", role="Zyx Wvu"),
)
_VOTE = CastVote(model="openai/gpt-zyx", before="Zyx A", before_sure=80, after="Zyx A", after_sure=80)
DECISIONS = (
    Decision(
        id="due", name=USERS_WORDS, who=("Zyx Ada", "Zyx Ben"), options=("Zyx A", "Zyx B"), headline="Zyx A",
        decided="Zyx B", why=USERS_WORDS, sure=70, sign=USERS_WORDS, due="2026-01-31", at=AT, unstable=True, votes=(_VOTE,),
    ),
    Decision(id="kept", name=USERS_WORDS, kind="chat", decided="Zyx A", due="2999-01-31", at=AT),
    Decision(
        id="wrong", name=USERS_WORDS, options=("Zyx A", "Zyx B"), decided="Zyx A", result="failed", note=USERS_WORDS,
        known_at=AT, at=AT,
    ),
    *(
        Decision(id=f"true{place}", name=USERS_WORDS, decided="Zyx A", result="held", right="Zyx A", votes=(_VOTE,), at=AT)
        for place in range(6)
    ),
)  # fmt: skip
AGENTS = (
    Agent(
        id="zyx-architect", name="Zyx Wvu", role="Architect", provider="openai", model="gpt-zyx",
        description=USERS_WORDS, instructions=f"{USERS_WORDS} " * 30, tools=("web_fetch", "ask", "subAgent"),
        sub_agents=("browser",), mcp_servers=("zyx-wvu",),
    ),
    Agent(id="zyx-qa", name="Zyx QA", provider="gemini", model="gemini-zyx", tools=("web_fetch",)),
)  # fmt: skip
NOTES = (
    Note(
        id="n1",
        text=" ".join((USERS_WORDS,) * 3),
        agent="zyx-architect",
        origin="page",
        source="https://zyx.example/",
        at=AT,
    ),
    Note(id="n2", text=USERS_WORDS, agent="zyx-gone", local=True, at=AT),
)
CREW = Group(
    id="zyx-crew", name="Zyx Zyx", members=("zyx-architect", "zyx-qa"), instructions=USERS_WORDS,
    orchestrator=Leader(provider="openai", model="gpt-zyx"),
)  # fmt: skip
SERVERS = (
    McpServer(name="zyx-wvu", command="zyx-run", args=("--zyx",), env={"ZYX_KEY": "1"}),
    McpServer(name="wvu", url="https://zyx.example/mcp", disabled=True),
)


def session(kind: type[Session], session_id: str, title: str, **fields: object) -> Session:
    values = {"id": session_id, "title": f"Zyx {title}", "created_at": AT, "updated_at": AT, **fields}
    return kind(**values)  # type: ignore[arg-type]


def turn_by_turn(messages: Sequence[Message]) -> list[Message]:
    """Let each root turn follow the one before; return the messages in Zyx words."""
    before: dict[str, str] = {}
    last = ""
    done = []
    for one in messages:
        if one.parent_turn_id is None and one.turn_id not in before:
            before[one.turn_id] = last
            last = one.turn_id
        follows = before.get(one.turn_id) if one.parent_turn_id is None else None
        content = USERS_WORDS if one.role in ("user", "assistant") and one.content else one.content
        author = replace(one.author, name="Zyx", path=("zyx",) * len(one.author.path))
        done.append(replace(one, content=content, follows=follows, author=author))
    return done


def chat(head: str, **fields: object) -> Chat:
    return Chat(assistant_id="zyx-architect", assistant_name="Zyx Wvu", head=head, **fields)  # type: ignore[arg-type]


def concluded() -> list[Message]:
    """Return the ballots of a debate after each round, and what a judge read twice."""

    def beside(name: str, author: Author, part: str, number: int, data: PartData) -> Message:
        return Message(
            id=name, turn_id=name, role="assistant", author=author, part=part, round=number, data=data
        )

    found = []
    for number, places in enumerate(((0, 2), (1, None), (1, 0))):
        for seat, place in zip(SEATS, places, strict=True):
            held = Position(choice="" if place is None else f"o{place}", confidence=70)
            author = Author(id=seat.id, name=seat.name, kind="participant")
            found.append(beside(f"v{number}{seat.id}", author, CouncilPart.BALLOT, number, held))
    point = JudgedPoint(text=f"{USERS_WORDS} " * 12, cites=("d0", "d1"))
    case = BestCase(option="o1", text=point.text, cites=point.cites)
    for order in (1, 2):
        read = JudgeReading(
            judge="openai/gpt-zyx", order=order, choice="o1", cases=(case,), agreed=(point,), open=(point,)
        )
        author = Author(id=f"zyx{order}", name="gpt-zyx", kind="helper")
        found.append(beside(f"r{order}", author, CouncilPart.READING, 2, read))
    return found


def sessions() -> list[tuple[Session, list[Message]]]:
    """Return a session of each kind, with its messages."""
    said = [
        Message(
            id=f"d{number}",
            turn_id=f"d{number}",
            role="assistant",
            author=Author(id=seat.id, name=seat.name, kind="participant"),
            content=f"{USERS_WORDS} " * 20,
            round=number // 2 + 1,
            why="longest_silent",
            usage=Usage(provider=seat.provider, model=seat.model, input_tokens=900, output_tokens=90),
            created_at=AT,
        )
        for number, seat in enumerate(SEATS * 2)
    ]
    said[-1] = replace(said[-1], content="", state="failed", error=Failure(kind="timeout"))
    said += concluded()
    options = tuple(Option(id=f"o{place}", text=f"{USERS_WORDS} {place}") for place in range(3))
    debate = Debate(
        topic=USERS_WORDS,
        mode=DebateMode.ROLES,
        rounds=3,
        round=2,
        participants=SEATS,
        polls=True,
        options=options,
        council=Council(differences=False, judges=("openai/gpt-zyx",)),
    )
    asked = [*a_tree()[:1], spoke("m1", "tm", "Zyx?", [call("q1", "ask")])]
    options = Prompt(question=USERS_WORDS, type=PromptType.OPTIONS, options=("Zyx", "Wvu"))
    allow = Prompt(
        question="",
        type=PromptType.APPROVAL,
        tool="web_fetch",
        arguments='{"url": "https://zyx/"}',
        reason="tool",
    )
    definition = next(
        one
        for one in read_built_in(resources_dir() / "workflows", WorkflowDefinition)["en"]
        if one.id == "bug-fix"
    )
    states = (StepStatus.DONE, StepStatus.FAILED, StepStatus.PENDING)
    steps = tuple(
        StepState(
            id=step.id,
            state=states[min(place, 2)],
            attempt=1 if place < 2 else 0,
            assistant_id="zyx-architect",
            reason="timed_out" if place == 1 else "",
            artifacts="zyx.diff" if place == 0 else "",
            started_at=AT if place < 2 else "",
            ended_at=AT if place < 2 else "",
        )
        for place, step in enumerate(definition.steps)
    )
    plan = Plan(goal=USERS_WORDS, items=(PlanItem(text="Zyx", done=True), PlanItem(text="Wvu zyx")))
    crew = GroupState(id=CREW.id, name=CREW.name, members=CREW.members)
    speaks = replace(agent("zyx-qa"), kind="main", path=("zyx-qa",), depth=0)
    member = spoke("g1", "tg", USERS_WORDS, author=speaks)
    leader = Author(id="orchestrator", name="Zyx", kind="orchestrator", path=("orchestrator",))
    asks = Prompt(question="Zyx wvu?", type=PromptType.YESNO)
    one = turn_by_turn(a_tree()[:1])
    return [
        (session(DebateSession, DEBATE, "Wvu 1", status=Status.COMPLETED, debate=debate), said),
        (session(ChatSession, CHAT, "Wvu 2", chat=chat("tm"), status=Status.PAUSED, reason="app_restart"), turn_by_turn(a_tree())),
        (
            session(ChatSession, ASKED, "Wvu 3", chat=chat("tm", always=("open_url",)), status=Status.WAITING),
            turn_by_turn([*asked, question("q", "tm", "q1", options, role="tool")]),
        ),
        (
            session(ChatSession, ALLOWED, "Wvu 4", chat=chat("tm"), status=Status.WAITING),
            turn_by_turn(
                [*asked[:1], spoke("m1", "tm", "Zyx", [call("q1")]), question("q", "tm", "q1", allow)]
            ),
        ),
        (
            session(
                ChatSession, QUEUED, "Wvu 5", status=Status.PAUSED, reason="app_restart",
                chat=chat("tu1", queue=(QueuedMessage(id="1", text="Zyx"), QueuedMessage(id="2", text="Wvu"))),
            ),
            one,
        ),
        (
            session(GroupSession, GROUP, "Wvu 6", chat=chat("tq"), group=crew, plan=plan, status=Status.WAITING),
            [
                *turn_by_turn([*a_tree()[:1], member]),
                replace(question("q", "tq", None, asks), author=leader, follows="tg"),
            ],
        ),
        (
            session(
                WorkflowSession, WORK, "Wvu 7", chat=chat("tu1"), status=Status.PAUSED, reason="step_failed",
                workflow=WorkflowState(definition=definition, command=USERS_WORDS, steps=steps),
            ),
            one,
        ),
    ]  # fmt: skip


async def keep_all(data_dir: Path) -> None:
    """Write sessions of every kind, assistants, a group and servers, before the window opens."""
    paths = DataPaths(data_dir)
    documents = JsonDocuments(paths)
    await documents.load()
    for one in AGENTS:
        await documents.assistants.change(lambda one=one: one)
    await documents.groups.change(lambda: CREW)
    await documents.change_mcp_servers(lambda _: SERVERS)
    await documents.change_notes(lambda _: NOTES)
    store = JsonLogStore(paths)
    await store.open()
    for each, messages in sessions():
        store.append((SessionStarted(session_id=each.id, session=each),))
        for message in messages:
            store.append((MessageFinished(session_id=each.id, message=message),))
        await store.flush(each.id)
    await store.close()


async def every_page(person: Person) -> AsyncIterator[tuple[str, QWidget]]:
    """Bring each page to the front; yield its name and the window or dialog it is in."""
    window, desk = person.window, person.window.controller
    top = window.top_bar

    async def shown(name: str, seconds: float = 0.15) -> tuple[str, QWidget]:
        await person.settle(seconds)
        return name, window

    desk.show_new("zyx-architect")
    yield await shown("new chat")
    for mode in ("decide", "work"):
        desk.first_page.show(mode)
        yield await shown(f"new {mode}")
    desk.show_new(group_id="zyx-crew")
    await person.write("composer", "@")
    yield await shown("new group chat")
    await person.write("composer", "")
    page = desk.chat_page
    for name, session_id in (
        ("chat", CHAT), ("question", ASKED), ("approval", ALLOWED), ("queue", QUEUED), ("group", GROUP), ("work", WORK)
    ):  # fmt: skip
        desk.show_session(session_id)
        await until(lambda: page.session_id == session_id)  # noqa: B023
        page.box.unfold(True)
        # An approval takes no keys at first.
        yield await shown(name, 0.8 if name == "approval" else 0.3)
    desk.show_session(CHAT)
    await until(lambda: page.session_id == CHAT)
    desk.find_in_session()
    yield await shown("find")
    page.find_bar.leave()
    desk.show_session(GROUP)
    await until(lambda: page.session_id == GROUP)
    page.box.unfold(False)
    top.plan_button.setChecked(True)
    yield await shown("plan")
    top.plan_button.setChecked(False)
    desk.work.show()
    yield await shown("work")
    desk.work.show_assistant()
    yield await shown("work by assistant")
    desk.debates.show_setup(USERS_WORDS)
    yield await shown("setup")
    desk.panel.setup.mode.set_value(DebateMode.ROLES)
    yield await shown("setup with roles")
    await desk.debates.show_discussion(DEBATE)
    yield await shown("verdict")
    desk.panel.discussion.controls.side_chosen.emit("discussion")
    yield await shown("discussion")
    desk.panel.tabs.choose(2)
    yield await shown("history")
    top.debate_button.setChecked(False)
    desk.show_session(DEBATE)
    yield await shown("verdict, wide")
    desk.session_page.steps.set_value("debate")
    yield await shown("debate")
    desk.show_session(WORK)
    await until(lambda: page.session_id == WORK)
    top.workflow_button.setChecked(True)
    for place, name in enumerate(("workflow", "definitions")):
        desk.workflows.panel.tabs.choose(place)
        yield await shown(name)
    top.workflow_button.setChecked(False)
    for agent_id in ("zyx-architect", "assistant"):
        desk.assistants.show_page(agent_id)
        yield await shown(f"assistant {agent_id}")
    desk.assistants.show_memory()
    yield await shown("memory")
    desk.group_commands.show_page("zyx-crew")
    yield await shown("group page")
    for decision in DECISIONS:
        await desk.engine.journal.save(decision)
    for decision in DECISIONS[:4]:
        desk.decisions.show(decision.id)
        yield await shown(f"decision {decision.id}", 0.3)
    desk.palette.search()
    yield await shown("palette")
    desk.palette.palette.leave()
    window.toasts.show_toast(window.language("queue.taken_out"), window.language("notice.dismiss"), print)
    yield await shown("toast")
    for toast in window.toasts.findChildren(QWidget, "toast"):
        toast.leave()
    window.banner.show_text(window.language("error.session_not_found", session=USERS_WORDS))
    yield await shown("banner")
    window.banner.hide()
    async for name, dialog in every_dialog(person):
        yield name, dialog


async def every_dialog(person: Person) -> AsyncIterator[tuple[str, QWidget]]:
    """Open each dialog in turn; yield its name and the dialog, and close it."""
    desk = person.window.controller
    desk.settings.open("providers")
    dialog = person.find("settings_page")
    for settings_page in PAGES:
        dialog.show_page(settings_page)
        await person.settle(0.2)
        for steps in dialog.findChildren(Steps):
            steps.finish()
        yield f"settings {settings_page}", person.window
    dialog.show_page("servers")
    await person.settle(0.2)
    for name, opener in (("consent_dialog", "server_allow"), ("server_dialog", "settings_add_mcp")):
        await person.click(opener)
        yield name, (over := await opened(person, name))
        over.reject()
        await person.settle()
    person.find("settings_close").click()
    openers: list[tuple[str, Callable[[], object]]] = [
        ("ready_groups_dialog", desk.group_commands.show_ready),
        ("guide_dialog", desk.show_guide),
    ]
    for name, open_it in openers:
        open_it()
        yield name, (over := await opened(person, name))
        over.reject()
        await person.settle()


async def opened(person: Person, name: str) -> QDialog:
    """Return the dialog of that name once it is on the screen."""
    await until(lambda: person.sees(name), what=name)
    await person.settle(0.2)
    return person.find(name, QDialog)


def parts_of(root: QWidget) -> list[QWidget]:
    """Return what is on the screen in a window or dialog and not quite under something or scrolled away."""
    popups = [one for one in QApplication.topLevelWidgets() if one.isVisible() and one.parent() is root]
    popups = [one for one in popups if not isinstance(one, QDialog)]
    found = [one for each in (root, *popups) for one in each.findChildren(QWidget) if one.isVisible()]
    return [one for one in found if not one.visibleRegion().isEmpty()]


def place_in(root: QWidget, part: QWidget) -> QPoint:
    """Return where a part's upper left corner stands in a window."""
    return part.mapTo(root, QPoint(0, 0))
