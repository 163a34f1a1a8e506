"""The commands of groups: find, save, share, bring in, start and steer; `engine.groups` for the faces."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from app.core.agent import Agent, Group, Leader
from app.core.errors import BadInput, NotFound
from app.core.events import EventBus, GroupsChanged, utc_now
from app.core.ids import new_id
from app.core.message import Attachment, Author, Failure, Message, MessageState, Role
from app.core.plan import Plan
from app.core.session import AgentMode, Chat, GroupSession, GroupState, Status
from app.core.store import Documents
from app.core.text import clean_text
from app.engine.chat.input import begun_with, checked_mode, checked_text
from app.engine.chat.run import user_message
from app.engine.group.director import ORCHESTRATOR, Member, decide
from app.engine.library.agents import Cast
from app.engine.library.assistants import Assistants, SharedAssistant, free_id, read_document
from app.engine.prompts import Prompts
from app.engine.sessions import Sessions

MAX_NAME = 80
MAX_MEMBERS = 20
MAX_TURNS = 200
MAX_ITEMS = 100
MAX_ITEM = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedGroup:
    """A group from a file with its members, ready to be saved; `dropped` names what was left out."""

    group: Group
    members: tuple[SharedAssistant, ...]
    dropped: tuple[str, ...] = ()


class Groups:
    """What a face may do with groups; everything raises BadInput, NotFound or StorageError in words."""

    def __init__(
        self,
        documents: Documents,
        sessions: Sessions,
        cast: Cast,
        assistants: Assistants,
        prompts: Prompts,
        bus: EventBus,
        language: Callable[[], str],
        ready_made: Path | None = None,
    ) -> None:
        self._documents = documents
        self._sessions = sessions
        self._cast = cast
        self._assistants = assistants
        self._prompts = prompts
        self._bus = bus
        self._language = language
        self._ready_made = ready_made

    def all(self) -> tuple[Group, ...]:
        """Return every group in the user's order."""
        order = {group_id: place for place, group_id in enumerate(self._documents.settings().group_order)}
        return tuple(sorted(self._documents.groups.all(), key=lambda group: order.get(group.id, len(order))))

    def find(self, id_or_name: str) -> Group:
        """Return a group by id or exact name. Raises NotFound, BadInput where a name is two's."""
        wanted = id_or_name.strip().casefold()
        by_id = [group for group in self.all() if group.id.casefold() == wanted]
        found = by_id or [group for group in self.all() if group.name.casefold() == wanted]
        if not found:
            raise NotFound("group_not_found", group=id_or_name)
        if len(found) > 1:
            raise BadInput("group_ambiguous", name=id_or_name, ids=", ".join(one.id for one in found))
        return found[0]

    async def save(self, group: Group) -> Group:
        """Write a group; one without an id gets one from its name. Returns it as saved."""
        if not group.id:
            group = replace(group, id=self._free_id(group.name))
        saved = await self._documents.groups.save(_checked(group))
        self._tell()
        return saved

    async def duplicate(self, group_id: str, name: str) -> Group:
        """Save a copy under another name."""
        return await self.save(replace(self.find(group_id), id="", name=name, version=1))

    async def delete(self, group_id: str) -> None:
        """Take a group away; `restore` brings it back. Its members stay."""
        await self._documents.groups.delete(self.find(group_id).id)
        self._tell()

    async def restore(self, group: Group) -> None:
        """Bring a deleted group back as it was. Raises BadInput where it exists."""
        if any(one.id == group.id for one in self.all()):
            raise BadInput("bin_place_taken", name=group.name)
        await self._documents.groups.save(group)
        self._tell()

    async def reorder(self, group_ids: tuple[str, ...]) -> None:
        """Keep the order in which groups are listed."""
        await self._documents.save_settings(replace(self._documents.settings(), group_order=group_ids))
        self._tell()

    def share(self, group_id: str) -> str:
        """Return a group with its members as a file for others, without keys, commands or models' addresses."""
        group = self.find(group_id)
        members = [
            json.loads(self._assistants.share(member))
            for member in group.members
            if any(agent.id == member for agent in self._assistants.all())
        ]
        fields = {name: value for name, value in asdict(group).items() if name not in ("version", "members")}
        document = {"version": 1, **fields, "members": members}
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

    def read_shared(self, text: str) -> SharedGroup:
        """Read a shared file. Raises BadInput that names the field that is wrong; nothing of it runs."""
        document = read_document(text)
        entries = document.get("members")
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            raise BadInput("shared_field", field="members")
        if len(entries) > MAX_MEMBERS:
            raise BadInput("group_members", most=MAX_MEMBERS)
        members = tuple(self._assistants.read_shared(json.dumps(one)) for one in entries)
        leader = document.get("orchestrator", {})
        provider, model = (
            leader.get(name, "") if isinstance(leader, dict) else None for name in ("provider", "model")
        )
        limit, instructions = document.get("turns_limit", 20), document.get("instructions", "")
        name, asks = document.get("name"), document.get("ask_before_hand_over", False)
        for field, value, kind in (
            ("orchestrator", provider, str),
            ("orchestrator", model, str),
            ("turns_limit", limit, int),
            ("instructions", instructions, str),
            ("name", name, str),
            ("ask_before_hand_over", asks, bool),
        ):
            if not isinstance(value, kind):
                raise BadInput("shared_field", field=field)
        assert isinstance(provider, str)
        assert isinstance(model, str)
        assert isinstance(limit, int)
        assert isinstance(name, str)
        assert isinstance(instructions, str)
        assert isinstance(asks, bool)
        group = Group(
            id=self._free_id(name),
            name=clean_text(name),
            orchestrator=Leader(provider=provider, model=model),
            instructions=clean_text(instructions),
            turns_limit=limit,
            ask_before_hand_over=asks,
        )
        known = {
            "version",
            "id",
            "name",
            "members",
            "orchestrator",
            "turns_limit",
            "instructions",
            "ask_before_hand_over",
        }
        dropped = tuple(str(field)[:40] for field in document if field not in known)
        return SharedGroup(group=_checked(group), members=members, dropped=dropped)

    def ready_made(self) -> dict[str, SharedGroup]:
        """Return the groups that come with the program in the language that is chosen now, by the names of
        their files; none is saved yet.
        """
        files = sorted((self._ready_made / self._language()).glob("*.json")) if self._ready_made else []
        return {file.stem: self.read_shared(file.read_text(encoding="utf-8")) for file in files}

    async def bring_in(self, shared: SharedGroup) -> Group:
        """Save a group that was read from a file, and its members; those who are there already are not made
        anew where they are the same.
        """
        ids = []
        for one in shared.members:
            twin = next((agent for agent in self._assistants.all() if _same(agent, one.agent)), None)
            ids.append((twin or await self._assistants.save(replace(one.agent, id=""))).id)
        return await self.save(replace(shared.group, members=tuple(ids)))

    # Work

    async def start(
        self,
        group_id: str,
        text: str,
        attachments: tuple[Attachment, ...] = (),
        mode: str = AgentMode.DEFAULT,
    ) -> str:
        """Start a conversation with a group (row G1) and return its id."""
        group = self.find(group_id)
        state = GroupState(
            id=group.id,
            name=group.name,
            members=group.members,
            turns_limit=group.turns_limit,
            ask_before_hand_over=group.ask_before_hand_over,
        )
        if not self._cast.members(state):
            raise BadInput("group_empty", group=group.name)
        message = user_message(checked_text(text, attachments), attachments, "")
        language = self._language()
        chat = Chat(
            assistant_id=ORCHESTRATOR,
            assistant_name=self._prompts.line(language, "assistant", "orchestrator"),
            mode=checked_mode(mode),
            budget_from=message.id,
            language=language,
        )
        live = await self._sessions.begin(
            GroupSession(**begun_with(message), chat=chat, group=state), message
        )
        self._sessions.run(live)
        return live.id

    async def change_plan(self, session_id: str, plan: Plan | None) -> None:
        """Replace a session's plan; its assistants are told when they speak next."""
        live = await self._sessions.open_chat(session_id)
        if plan is not None:
            items = tuple(replace(item, text=" ".join(clean_text(item.text).split())) for item in plan.items)
            if any(not item.text or len(item.text) > MAX_ITEM for item in items) or len(items) > MAX_ITEMS:
                raise BadInput("plan_items", most=MAX_ITEMS, characters=MAX_ITEM)
            plan = replace(plan, items=items) if items or plan.goal else None
        live.change_plan(plan)

    async def ask_before_hand_over(self, session_id: str, on: bool) -> None:
        """Let the user see each hand-over of a group's session before it happens, or no longer."""
        live = await self._sessions.open_chat(session_id)
        if not isinstance(live.session, GroupSession):
            raise BadInput("not_a_group", title=live.session.title)
        live.change(group=replace(live.session.group, ask_before_hand_over=on))

    async def go_on_without(self, session_id: str) -> None:
        """Take the answer of a group's member that hangs as lost, and let the orchestrator go on."""
        live = await self._sessions.open_chat(session_id)
        session = live.session
        members = self._cast.members(session.group) if isinstance(session, GroupSession) else ()
        hangs = decide(live, session, members) if isinstance(session, GroupSession) else None
        if not isinstance(hangs, Member) or session.status != Status.RUNNING:
            raise BadInput("nobody_hangs")
        await self._sessions.stop(live)
        # One that hangs before its first word has no message yet.
        turn_id = hangs.turn_id or new_id()
        name = next((one.name for one in members if one.id == hangs.agent_id), hangs.agent_id)
        lost = Message(
            id=new_id(),
            turn_id=turn_id,
            role=Role.ASSISTANT,
            author=Author(id=hangs.agent_id, name=name, path=(hangs.agent_id,)),
            follows=hangs.follows,
            state=MessageState.FAILED,
            error=Failure(kind="skipped"),
            created_at=utc_now(),
        )
        live.finish_message(lost)
        self._sessions.run(live)

    def _free_id(self, name: str) -> str:
        return free_id(name, (group.id for group in self.all()), "group")

    def _tell(self) -> None:
        self._bus.publish(GroupsChanged(session_id=""))


def _same(one: Agent, other: Agent) -> bool:
    return replace(one, id="", version=1) == replace(other, id="", version=1)


def _checked(group: Group) -> Group:
    name = " ".join(clean_text(group.name).split())
    if not name or len(name) > MAX_NAME:
        raise BadInput("group_name", most=MAX_NAME)
    if len(group.members) > MAX_MEMBERS or len(set(group.members)) != len(group.members):
        raise BadInput("group_members", most=MAX_MEMBERS)
    if not 1 <= group.turns_limit <= MAX_TURNS:
        raise BadInput("group_turns", most=MAX_TURNS)
    if bool(group.orchestrator.provider) != bool(group.orchestrator.model):
        raise BadInput("assistant_model")
    return replace(group, name=name)
