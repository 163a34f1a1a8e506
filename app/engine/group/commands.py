"""The commands of groups: their definitions, also those that a model proposes, and sessions with them;
`engine.groups`.

Also a running group: the orchestrator's turns and its members', each a root turn of the conversation.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from app.core.criteria import Plan
from app.core.definitions import ORCHESTRATOR, Agent, Group, Leader
from app.core.errors import BadInput, Failure
from app.core.events import GroupsChanged
from app.core.json_values import as_list, objects_in, read_object, schema_list, schema_object
from app.core.message import Attachments, Author, Role
from app.core.provider import ModelRequest, one_message
from app.core.session import AgentMode, GroupSession, GroupState, Reason, Status, counted
from app.core.texts import clean_text, fold, visible
from app.core.tool import FILES, ToolChoice, assistants_called, told_of
from app.engine.chat.commands import begun_with, checked_mode, checked_text
from app.engine.chat.run import ChatRun, no_answer, user_message
from app.engine.debate.estimates import Estimate, Estimates
from app.engine.debate.setup import distinct
from app.engine.director import Ask, Speak
from app.engine.group.director import decide, members_turns, silent_members, silent_turns
from app.engine.history import tokens_of
from app.engine.library.agents import ORCHESTRATION, AgentDirectory, AgentModel, Assistants
from app.engine.library.definitions import SENT_SKILLS, Definitions, LibraryKind, Shared
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import next_lead, orchestrator_of, told_to_lead, turns_used
from app.engine.runner import Sessions
from app.engine.turns.context import MeteredModels


class GroupRun(ChatRun):
    """A running group, in a task of its own."""

    async def _step(self) -> None:
        session = self._live.group_session
        if session.chat.summarise and not self._pausing:
            directory, prompts = self._services.directory, self._services.prompts
            await self._summarise(next_lead(self._live, directory, prompts))
            return
        members = self._services.directory.members(session.group)
        queue = session.chat.queue
        reads = bool(queue) and not self._services.drafts.holds(self._live.id, queue[0].id)
        match decide(self._live, session, members, reads=reads):
            case Speak() as spoken if not self._pausing:
                if spoken.speaker == ORCHESTRATOR:
                    await self._lead(session, members, spoken)
                else:
                    await self._hand_over(members, spoken)
            case decision:
                if isinstance(decision, Ask) and turns_used(self._live) >= session.group.turns_limit:
                    self._limit = counted(Reason.TURNS_LIMIT, session.group.turns_limit)
                await self._end_or_send(decision)
                now = self._live.session
                ended = isinstance(decision, Ask) and now.status != Status.RUNNING
                if ended and now.plan is not None and now.plan.open:
                    self._live.notice("plan_open", count=len(now.plan.open))

    async def _lead(self, session: GroupSession, members: tuple[Agent, ...], spoken: Speak) -> None:
        saved = self._services.directory.group(session.group.id)
        if spoken.last and not spoken.turn_id:
            self._live.notice(Reason.TURNS_LIMIT, limit=session.group.turns_limit)
        agent = orchestrator_of(self._live, saved, last=spoken.last)
        notes, state = told_to_lead(self._live, members, self._services.prompts, begun=bool(spoken.turn_id))
        own = {"kind": ORCHESTRATOR, "notes": notes, "state": state}
        await self._take(agent, spoken, members=members, given=(ORCHESTRATION,), **own)

    async def _hand_over(self, members: tuple[Agent, ...], spoken: Speak) -> None:
        agent = next((member for member in members if member.id == spoken.speaker), None)
        if agent is None:
            name = self._live.group_session.group.name_of(spoken.speaker)
            self._fail(Author(id=spoken.speaker, name=name, path=(spoken.speaker,)), spoken)
            return
        await self._take(agent, spoken, members=members)


MAX_MEMBERS = 20
MAX_TURNS = 200
MAX_ITEMS = 100
MAX_ITEM = 500
# Of a proposal: its members; the assistants, tools or models that the model is told of.
MOST_PROPOSED, MOST_LISTED = 8, 60
# Characters of the task and of what was last answered to it; of a name, of a line, and of instructions in a
# proposal.
MOST_TASK, MOST_SAID, MOST_NAME, MOST_LINE, MOST_TOLD = 20_000, 4_000, 60, 300, 4_000
# Its tokens, at least and at most.
_WRITTEN = (400, 2_500)
_TEXT = {"type": "string"}
_MEMBER = schema_object(name=_TEXT, role=_TEXT, instructions=_TEXT, tools=schema_list(_TEXT), why=_TEXT)
_GROUP = schema_object(name=_TEXT, instructions=_TEXT, orchestrator=_TEXT, members=schema_list(_MEMBER))


_SHARED = ("name", "orchestrator", "instructions", "turns_limit", "ask_before_hand_over")
_KIND = LibraryKind(
    Group, "group", attrgetter("groups"), GroupsChanged, _SHARED, "group_order", ("members", SENT_SKILLS)
)


@dataclass(eq=False, repr=False)
class Groups(Definitions[Group]):
    """What a user may do with groups; everything raises BadInput, NotFound or StorageError in words."""

    _kind: LibraryKind[Group] = field(default=_KIND, init=False)
    _sessions: Sessions
    _directory: AgentDirectory
    _assistants: Assistants
    _prompts: Prompts
    _ready_made: Path | None
    _models: MeteredModels
    _estimates: Estimates

    def ready_made(self) -> dict[str, Shared[Group]]:
        """Return the groups that come with the program in the current language, by the names of their files;
        none is saved yet.
        """
        files = sorted((self._ready_made / self._language()).glob("*.json")) if self._ready_made else []
        return {file.stem: self.read_shared(file.read_text(encoding="utf-8")) for file in files}

    async def bring_in(self, shared: Shared[Group]) -> Group:
        """Save a group that was read from a file or proposed, and its members; one that exists is used
        as it is.
        """
        ids = []
        self._checked(shared.definition)
        # Of two new members that are alike each becomes an assistant of its own.
        there = {agent.id: agent for agent in self._assistants.all()}
        for member in shared.members:
            twin = next((agent for agent in there.values() if _same(agent, member.definition)), None)
            known = there.get(member.definition.id) or twin
            ids.append((known or await self._assistants.save(replace(member.definition, id=""))).id)
        return await self.save(replace(shared.definition, members=tuple(ids)))

    # Proposals

    def proposal(self, task: str, usual: AgentModel, session_id: str = "") -> ModelRequest:
        """Return what is asked for a group for a task, also one of a session: of `usual`,
        or the settings' helper.

        Raises BadInput for a model that cannot propose.
        """
        live = self._sessions.live(session_id)
        messages = live.messages if live is not None else ()
        model = self._directory.helper_for(live, usual)
        if not task.strip():
            raise BadInput("propose_no_task")
        # A whole turn of an external agent is too much for that, and a small model proposes nothing of use.
        if model.external or model.guided:
            code = "propose_agent" if model.external else "propose_small"
            raise BadInput(code, name=model.model or model.label)
        said = (item.content for item in reversed(messages) if item.role == Role.ASSISTANT and not item.part)
        text = self._prompts.text(
            self._language(),
            "group-propose",
            most=MOST_PROPOSED,
            task=f"{task[:MOST_TASK]}\n\n{next(filter(None, said), '')[:MOST_SAID]}".strip(),
            assistants=_listed(map(told_of, self._directory.fitting(task[:MOST_LINE]))),
            tools=_listed(f"{choice.key}: {choice.description}" for choice in self._granted()),
            models=_listed(self._directory.leaders()),
        )
        return one_message(model.provider, model.model, text, schema=_GROUP)

    async def proposal_price(self, request: ModelRequest) -> Estimate:
        """Return what it takes to have a group proposed."""
        seat = (request.provider, request.model)
        read = tokens_of(str(request.messages[0]["content"]), request.model)
        return await self._estimates.priced(
            lambda: self._estimates.of_calls(lambda length: [(seat, read, _WRITTEN[length])])
        )

    async def propose(self, request: ModelRequest, session_id: str = "") -> Shared[Group]:
        """Return the group that a model proposes, without what does not fit; nothing is saved.

        A session that it is for says what the call cost. Raises ProviderError, BadInput for what cannot be
        read.
        """
        used = partial(self._sessions.note_unsaid, self._sessions.live(session_id))
        found = read_object(await self._models.ask(request, session_id, used=used)) or {}
        members, dropped = dict[str, Shared[Agent]](), list[str]()
        granted = {FILES, *(key for choice in self._granted() for key in (choice.key, choice.group))}
        for said in objects_in(found.get("members")):
            one = self._proposed_member(said, granted)
            # Two who are there already may have one name.
            agent, key = one.definition, one.definition.id or fold(one.definition.name)
            able = (agent.id or agent.instructions) and key and key not in members
            if able and len(members) < MOST_PROPOSED:
                members[key] = one
                dropped += (f"{agent.name}: {what}" for what in one.dropped)
            else:
                dropped.append(f"members: {agent.name}")
        name, leader = _line(found, "name"), _line(found, "orchestrator", MOST_LINE)
        if not (name and members):
            raise BadInput("propose_unreadable")
        if leader and leader not in self._directory.leaders():
            dropped.append(f"orchestrator: {leader}")
            leader = ""
        provider, _slash, model = leader.partition("/")
        name = distinct(name, (item.name for item in self.all()))
        told = _line(found, "instructions", MOST_TOLD)
        leads = Leader(provider=provider, model=model)
        group = Group(id="", name=name, orchestrator=leads, instructions=told)
        return Shared(definition=group, dropped=tuple(dropped), members=tuple(members.values()))

    async def price_of(self, proposed: Shared[Group]) -> Estimate:
        """Return what one message to a proposed group will use at most."""
        members = [member.definition for member in proposed.members]
        return await self._estimates.priced(lambda: self._estimates.group(proposed.definition, members))

    def _proposed_member(self, said: Mapping[str, object], granted: Collection[str]) -> Shared[Agent]:
        """Return the assistant of a name, else a new one with those of its tools that are granted."""
        name, why = _line(said, "name", MOST_LINE), _line(said, "why", MOST_LINE)
        if known := assistants_called(name, self._directory.fitting("")):
            return Shared(definition=known[0], why=why)
        wanted = dict.fromkeys((FILES, *(one for one in as_list(said.get("tools")) if isinstance(one, str))))
        agent = Agent(
            id="",
            name=name[:MOST_NAME].strip(),
            role=_line(said, "role"),
            description=why,
            instructions=_line(said, "instructions", MOST_TOLD),
            tools=tuple(item for item in wanted if item in granted),
        )
        dropped = tuple(f"tools: {visible(item)[:MOST_NAME]}" for item in wanted if item not in granted)
        return Shared(definition=agent, why=why, dropped=dropped)

    def _granted(self) -> list[ToolChoice]:
        """Return the tools that a new member can have; those for files it has, and nobody whom it could
        call.
        """
        return [tool for tool in self._assistants.tools() if tool.group not in ("", FILES)]

    # Work

    async def start(
        self,
        group_id: str,
        text: str,
        attachments: Attachments = (),
        mode: str = AgentMode.DEFAULT,
        effort: str = "",
        folder: str = "",
        asked_by: str = "",
        *,
        done_means: Sequence[str] = (),
        **own: Any,
    ) -> str:
        """Start a session with a group and return its id; `effort` is that of all its members, ""
        for their own.

        `own` are fields of its Chat, as in `Chats.start`.
        """
        group = self.find(group_id)
        known = ((member, self._directory.agent(member)) for member in group.members)
        names = tuple(agent.name if agent else item for item, agent in known)
        same = ("id", "name", "members", "turns_limit", "ask_before_hand_over")
        state = GroupState(names=names, **{field: getattr(group, field) for field in same})
        self._check_leader(self._directory.models_for(group)[0])
        if not self._directory.members(state):
            raise BadInput("group_empty", group=group.name)
        message = user_message(checked_text(text, attachments), attachments, "", by=asked_by)
        language = self._language()
        name = self._prompts.line(language, "assistant", "orchestrator")
        own |= {"assistant_id": ORCHESTRATOR, "assistant_name": name}
        own |= {"mode": checked_mode(mode), "language": language, "effort": effort}
        begun = begun_with(message, folder, asked_by, done_means, **own)
        return await self._sessions.start(GroupSession(**begun, group=state), message)

    async def change_plan(self, session_id: str, plan: Plan | None) -> None:
        """Replace a session's plan; its assistants are told when they speak next."""
        live = await self._sessions.open_chat(session_id)
        if plan is not None:
            items = tuple(replace(item, text=" ".join(clean_text(item.text).split())) for item in plan.items)
            if any(not item.text or len(item.text) > MAX_ITEM for item in items) or len(items) > MAX_ITEMS:
                raise BadInput("plan_items", most=MAX_ITEMS, characters=MAX_ITEM)
            plan = replace(plan, items=items) if items or plan.goal else None
        live.change(plan=plan)

    async def ask_before_hand_over(self, session_id: str, on: bool) -> None:
        """Switch whether the user approves each hand-over in a group's session."""
        live = await self._sessions.open_chat(session_id)
        live.change(group=replace(live.group_session.group, ask_before_hand_over=on))

    def silent(self, live: LiveSession) -> list[str]:
        """Return the ids of the members of whom nothing has come for long."""
        return [member.id for member in silent_members(live, self._directory)]

    async def go_on_without(self, session_id: str, member_id: str = "") -> None:
        """Give up waiting for a member that does not answer, "" for any, and let the others go on."""
        live = await self._sessions.open_chat(session_id)
        session = live.group_session
        members = self._directory.members(session.group)
        turns = members_turns(live, session, members)
        # Of several of one member, the one of which nothing comes.
        turns = [*silent_turns(live, turns), *turns]
        hangs = next((each for each in turns if member_id in ("", each.speaker)), None)
        if hangs is None or session.status != Status.RUNNING:
            raise BadInput("nobody_hangs")
        run = self._sessions.running(session_id)
        if run is not None and run.stop_turn(hangs.turn_id):
            # The others who work side by side go on.
            return
        await self._sessions.interrupt(live)
        gone = session.group.name_of(hangs.speaker)
        name = next((member.name for member in members if member.id == hangs.speaker), gone)
        author = Author(id=hangs.speaker, name=name, path=(hangs.speaker,))
        live.finish_message(no_answer(hangs, author, Failure(kind="skipped")))
        self._sessions.run(live)

    def _checked(self, definition: Group) -> Group:
        group = super()._checked(definition)
        if len(group.members) > MAX_MEMBERS or len(set(group.members)) != len(group.members):
            raise BadInput("group_members", most=MAX_MEMBERS)
        if not 1 <= group.turns_limit <= MAX_TURNS:
            raise BadInput("group_turns", most=MAX_TURNS)
        if bool(group.orchestrator.provider) != bool(group.orchestrator.model):
            raise BadInput("assistant_model")
        if group.orchestrator.provider:
            self._check_leader(self._directory.model(group.orchestrator.provider, group.orchestrator.model))
        return group

    def _check_leader(self, model: AgentModel) -> None:
        """Raise BadInput for an external agent, which cannot call the tools that plan and hand over."""
        if model.external:
            raise BadInput("group_external_leader", name=model.label)

    def _to_share(self, definition: Group) -> dict[str, Any]:
        """Return a group with its members as they are shared by themselves."""
        there = {agent.id for agent in self._assistants.all()}
        members = [json.loads(self._assistants.share(item)) for item in definition.members if item in there]
        return {**super()._to_share(definition), "members": members}

    def _from_shared(self, document: Mapping[str, Any]) -> Shared[Group]:
        entries = document.get("members")
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise BadInput("shared_field", field="members")
        if len(entries) > MAX_MEMBERS:
            raise BadInput("group_members", most=MAX_MEMBERS)
        members = tuple(self._assistants.read_shared(json.dumps(entry)) for entry in entries)
        return replace(super()._from_shared(document), members=members)


def _listed(lines: Iterable[str]) -> str:
    """Return the first lines of a list for a model, each shortened."""
    return "\n".join(f"- {' '.join(line.split())[:MOST_LINE]}" for line in islice(lines, MOST_LISTED))


def _line(said: Mapping[str, object], name: str, most: int = MOST_NAME) -> str:
    """Return a text of an answer in one line, in which nothing is hidden; "" for none."""
    text = said.get(name)
    return " ".join(visible(text).split())[:most].strip() if isinstance(text, str) else ""


def _same(one: Agent, other: Agent) -> bool:
    return replace(one, id="", version=1, colour=0) == replace(other, id="", version=1, colour=0)
