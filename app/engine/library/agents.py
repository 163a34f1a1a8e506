"""The commands of assistants, and what the assistants may use now: their models, tools and sub-agents.

The tool `subAgent` is the only way to delegate: who may be called, and what the caller is told.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Final

from app.core import definitions
from app.core import tool as core_tool
from app.core.catalog import EMBEDDED, PROGRAM, ProviderKind, RequestForm, provider_kind
from app.core.council import Participant
from app.core.definitions import STEP_TOOLS, WORKFLOW, Agent, Effort, Group, WorkflowStep, distance, role_of
from app.core.errors import BadInput, MootError
from app.core.events import AssistantsChanged
from app.core.files import SeenAs
from app.core.frozen import Frozen
from app.core.memory import REMEMBER
from app.core.message import Consent, Message, MessageState, Prompt, Role
from app.core.provider import FactSource, ModelFacts, ProviderStatus
from app.core.session import AgentMode, Folder, GroupState
from app.core.settings import Settings
from app.core.store import Documents
from app.core.tool import FILE_PARTS, FILES, SKILLS, ServerStatus, Tool, ToolChoice, ToolError, Tools, told_of
from app.engine.library.definitions import SENT_SKILLS, Definitions, LibraryKind, Shared, Skills
from app.engine.live_session import LiveSession
from app.engine.providers import ProviderProblem, is_here, is_taken

SUB_AGENT = "subAgent"
MAX_TASK = 20_000
MAX_SUMMARY = 6_000
# What the tools of a sub-agent found that came to no end.
MAX_FOUND = 24_000
MOST_OF_CALL = 300

_MODE = {"type": "string", "enum": [AgentMode.DEFAULT, AgentMode.SETTINGS]}
PARAMETERS: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The name of the assistant to call."},
        "task": {"type": "string", "description": "What it shall do, complete: it sees nothing else."},
        "context": {"type": "object", "description": "Facts it needs, as an object."},
        "options": {"type": "object", "properties": {"mode": _MODE}},
    },
    "required": ["name", "task"],
}


class Delegation(Frozen):
    """A checked task for a sub-agent."""

    agent: Agent
    task: str
    mode: str


def description(callable_agents: Sequence[Agent]) -> str:
    """Return the description of the tool for a model: whom it may call, and for what."""
    lines = [f"- {told_of(agent)}" for agent in callable_agents]
    return "Give a task to another assistant and get its summary. Available:\n" + "\n".join(lines)


def delegation(
    arguments: Mapping[str, object], caller: Agent, stack: Sequence[str], mode: str, agents: Sequence[Agent]
) -> Delegation:
    """Check a call of `subAgent`; `stack` are the ids from the root to the caller.

    Raises ToolError that says why it is refused; then no model was asked.
    """
    name, task = arguments.get("name"), arguments.get("task")
    if not isinstance(name, str) or not name.strip():
        raise ToolError("`name` is missing: say which assistant to call.")
    if not isinstance(task, str) or not task.strip():
        raise ToolError("`task` is missing: say what the assistant shall do.")
    if len(task) > MAX_TASK:
        raise ToolError(f"`task` has {len(task)} characters; at most {MAX_TASK} are allowed.")
    context, options = arguments.get("context"), arguments.get("options")
    if context is not None and not isinstance(context, dict):
        raise ToolError("`context` must be an object.")
    if options is not None and not isinstance(options, dict):
        raise ToolError("`options` must be an object.")
    wanted = (options or {}).get("mode", mode)
    if wanted not in (AgentMode.DEFAULT, AgentMode.SETTINGS):
        raise ToolError(f"`options.mode` must be {AgentMode.DEFAULT} or {AgentMode.SETTINGS}.")
    allowed = [item for agent_id in caller.sub_agents for item in agents if item.id == agent_id]
    unknown = "is not on your list" if core_tool.assistants_called(name, agents) else "is unknown"
    agent = core_tool.assistant_called(name, allowed, unknown)
    if agent.id in stack:
        names = {item.id: item.name for item in agents}
        above = " > ".join(names.get(item, item) for item in stack)
        raise ToolError(f"{agent.name} is already at work above you ({above}); it cannot be called.")
    if not agent.enabled:
        raise ToolError(f"{agent.name} is switched off.")
    deepest = _deepest(stack, agents, caller, agent)
    if _depth(stack) > deepest:
        raise ToolError(f"Too deep: at most {deepest} levels of assistants. Do it yourself.")
    text = task.strip()
    if context:
        text += "\n\nContext:\n" + json.dumps(context, ensure_ascii=False, indent=1)
    mode = AgentMode.SETTINGS if AgentMode.SETTINGS in (mode, wanted) else mode
    return Delegation(agent=agent, task=text, mode=mode)


def callable_by(caller: Agent, stack: Sequence[str], agents: Sequence[Agent]) -> tuple[Agent, ...]:
    """Return whom an assistant may call from its place in the stack, in the order of its list."""
    by_id = {agent.id: agent for agent in agents}
    found = (by_id[agent_id] for agent_id in caller.sub_agents if agent_id in by_id)
    free = (agent for agent in found if agent.enabled and agent.id not in stack)
    return tuple(agent for agent in free if _depth(stack) <= _deepest(stack, agents, caller, agent))


def succeeded(message_id: str, text: str, note: str = "") -> str:
    """Return the result of a sub-agent that answered; `note` is what its caller is told besides."""
    summary = text.strip()
    if len(summary) > MAX_SUMMARY:
        summary = summary[:MAX_SUMMARY].rstrip() + f" … (cut; the whole text is message {message_id})"
    result = {"ok": True, "messageId": message_id, "summary": summary}
    return json.dumps(result | ({"note": note} if note else {}), ensure_ascii=False)


def failed(error: str, messages: Sequence[Message] = ()) -> str:
    """Return the result of a sub-agent that came to no end, with what it had said last, and what its tools
    found: each call with its result, which share the room for them.
    """
    result: dict[str, object] = {"ok": False, "error": error}
    said = [item.content.strip() for item in messages if item.role == Role.ASSISTANT]
    if texts := [text for text in said if text]:
        result["partial"] = texts[-1][:MAX_SUMMARY]
    calls = {call.id: f"{call.name} {call.arguments}" for item in messages for call in item.tool_calls}
    found = [item for item in messages if item.role == Role.TOOL and item.state == MessageState.DONE]
    if found:
        each = MAX_FOUND // len(found)
        result["found"] = [
            {"call": calls.get(item.tool_call_id or "", "")[:MOST_OF_CALL], "result": item.content[:each]}
            for item in found
        ]
    return json.dumps(result, ensure_ascii=False)


def _depth(stack: Sequence[str]) -> int:
    """Return the depth of a sub-agent called by the last of a stack;
    a workflow above its steps does not count.
    """
    return len(stack) - (stack[0] == WORKFLOW)


def _deepest(stack: Sequence[str], agents: Sequence[Agent], *below: Agent) -> int:
    """Return how deep the last of those below a stack may be: each in the stack limits all below it."""
    return min(agent.max_depth for agent in (*(agent for agent in agents if agent.id in stack), *below))


# Who reads a file: an assistant, a group, the participants of a debate, or any assistant.
Readers = Agent | Group | Sequence[Participant] | None

# The start of the id of a temporary assistant, made for a role that no assistant has.
MADE_FOR: Final = "role-"
# Sets of tools that a turn is given by what it is, never by an assistant's definition.
ORCHESTRATION = "orchestration"
GIVEN = (ORCHESTRATION, STEP_TOOLS, FILE_PARTS, SKILLS)
MAX_INSTRUCTIONS = 100_000
MAX_DEPTH = 10
MAX_STEPS = 100

# How it answers; what is left to the model is left out of a shared file.
_STYLE = ("effort", "creativity", "length")
_SPEAKS = ("name", "description", "role", "provider", "model", "instructions", *_STYLE)
_SHARED = (*_SPEAKS, "tools", "sub_agents", "skills", "pages", "max_depth", "max_steps")
_SILENT = ("enabled", "busy", "knows_user", "remembers", "folder", "colour", SENT_SKILLS)
_KIND = LibraryKind(
    Agent, "assistant", attrgetter("assistants"), AssistantsChanged, _SHARED, "assistant_order", _SILENT
)


def tools_off(settings: Settings, agent_id: str) -> set[str]:
    """Return the keys of the tools that are switched off for an assistant."""
    return {key for who, _, key in (item.partition("/") for item in settings.tools_off) if who == agent_id}


_CALL_OTHERS = ToolChoice(key=SUB_AGENT, description="Give a task to another assistant and get its summary.")


@dataclass(eq=False, repr=False)
class Assistants(Definitions[Agent]):
    """What a user may do with assistants."""

    _kind: LibraryKind[Agent] = field(default=_KIND, init=False)
    _tools: Tools

    def tools(self) -> tuple[ToolChoice, ...]:
        """Return what an assistant may be given, `subAgent` first; an orchestrator's own tools are not."""
        known = (tool for tool in self._tools.allowed() if tool.group not in GIVEN)
        given = (ToolChoice(key=tool.key, description=tool.description, group=tool.group) for tool in known)
        return (_CALL_OTHERS, *given)

    def closed(self, agent: Agent | None, mode: str) -> frozenset[str]:
        """Return the keys of the tools that an assistant may not use in a mode, whatever it is given."""
        of_servers = self._tools.server_tools(agent.mcp_servers) if agent is not None else ()
        return frozenset(tool.key for tool in (*self._tools.allowed(), *of_servers) if mode not in tool.modes)

    def _checked(self, definition: Agent) -> Agent:
        agent = super()._checked(definition)
        if len(agent.instructions) > MAX_INSTRUCTIONS:
            raise BadInput("text_too_long", characters=len(agent.instructions), most=MAX_INSTRUCTIONS)
        if bool(agent.provider) != bool(agent.model):
            raise BadInput("assistant_model")
        if not 0 <= agent.max_depth <= MAX_DEPTH or not 1 <= agent.max_steps <= MAX_STEPS:
            raise BadInput("assistant_limits", depth=MAX_DEPTH, steps=MAX_STEPS)
        if self.get(agent.id) is not None:
            return agent
        # A new one, also a copy, gets a colour that few others have.
        taken = [item.colour for item in self.all()]
        return replace(agent, colour=min(range(definitions.COLOURS), key=taken.count))

    def _to_share(self, definition: Agent) -> dict[str, Any]:
        document = super()._to_share(definition)
        return {name: item for name, item in document.items() if name not in _STYLE or item != Effort.AUTO}

    def _from_shared(self, document: Mapping[str, Any]) -> Shared[Agent]:
        """Return a shared assistant without the tools that are not on the allow-list."""
        shared = super()._from_shared(document)
        # A definition from elsewhere never writes files unless the user ticks that.
        known = {key for tool in self.tools() if tool.group != FILES for key in (tool.key, tool.group) if key}
        wanted = shared.definition.tools
        agent = replace(shared.definition, tools=tuple(key for key in wanted if key in known))
        dropped = (f"tools: {key}" for key in wanted if key not in known)
        return Shared(definition=agent, dropped=(*dropped, *shared.dropped))


class AgentModel(Frozen):
    """The model an agent speaks with, the catalogue's row of its provider, and whether it takes pictures
    and PDF files.

    `window` is how many tokens a request may have, 0 where nobody knows; `tools` whether the model can choose
    a tool. `label` is what the user calls the provider, `local` whether it is on this computer.
    """

    provider: str
    model: str
    row: ProviderKind | None
    label: str = ""
    images: bool = False
    pdf: bool = False
    window: int = 0
    tools: bool | None = None
    local: bool = False

    @property
    def seat(self) -> tuple[str, str]:
        """Its provider and its name there."""
        return self.provider, self.model

    @property
    def name(self) -> str:
        """The model as a message names it."""
        return f"{self.provider}/{self.model}"

    @property
    def external(self) -> bool:
        """Whether it is an external agent."""
        return self.row is not None and self.row.kind == PROGRAM

    @property
    def may_call(self) -> bool:
        """Whether it may call tools of Moot: it is no external agent, takes chat messages, and nobody says
        that it can't.
        """
        takes_turns = self.row is None or self.row.form == RequestForm.CHAT
        return takes_turns and not self.external and self.tools is not False

    @property
    def guided(self) -> bool:
        """Whether Moot must offer the tool that fits, because the model cannot choose one."""
        return self.row is not None and (self.row.guided or (self.row.in_moot and self.tools is False))


def look_of(models: Sequence[AgentModel]) -> SeenAs:
    """Return as what these models take a PDF file that is sent as it looks."""
    pictures = any(model.images and not model.pdf for model in models)
    return SeenAs(pdf=any(model.pdf for model in models), pictures=pictures)


def _is_meant(status: ProviderStatus) -> bool:
    """Return whether a provider is ready, or what the user set up: nothing goes to the next one instead of
    one whose entry cannot be read, or whose server does not run.
    """
    if status.problem == ProviderProblem.UNREADABLE:
        return True
    return is_taken(status) and (status.ready or status.problem == ProviderProblem.NO_SERVER)


@dataclass(eq=False, repr=False)
class AgentDirectory:
    """The assistants of the user and of the program, and what they may use now."""

    _documents: Documents
    _tools: Tools
    _providers: Callable[[], Sequence[ProviderStatus]]
    _assistants: Definitions[Agent]
    _facts: Callable[[str, str], ModelFacts]
    skills: Skills

    def __post_init__(self) -> None:
        self.agents, self.agent = self._assistants.all, self._assistants.get
        self.settings, self.permit = self._documents.settings, self._tools.permit
        self.notes = self._documents.notes

    def is_assistant(self, agent_id: str) -> bool:
        """Say whether an id is that of an assistant, also of one made for a role."""
        return agent_id.startswith(MADE_FOR) or self.agent(agent_id) is not None

    def model_of(self, agent: Agent, caller: AgentModel | None = None) -> AgentModel:
        """Return what an agent speaks with: its own model, its caller's, or the default: the first
        that the user set up.
        """
        if agent.provider:
            return self.model(agent.provider, agent.model)
        if caller is not None:
            return caller
        meant = (provider for provider in self._providers() if _is_meant(provider))
        first = min(meant, key=lambda status: status.config.kind == EMBEDDED, default=None)
        return self.model(first.config.id, first.default_model) if first else self.model(EMBEDDED, "")

    def has_provider(self, provider_id: str) -> bool:
        """Say whether there is a provider of an id."""
        return any(provider.config.id == provider_id for provider in self._providers())

    def models_for(self, who: Readers) -> tuple[AgentModel, ...]:
        """Return the models that read what is said to an assistant, to any (None), to a group, or
        to participants.
        """
        if isinstance(who, Sequence):
            return tuple(self.model(participant.provider, participant.model) for participant in who)
        if not isinstance(who, Group):
            return (self.model_of(who or Agent(id="", name="")),)
        leader = Agent(id="", name="", provider=who.orchestrator.provider, model=who.orchestrator.model)
        members = (self.agent(agent_id) for agent_id in who.members)
        return tuple(self.model_of(agent) for agent in (leader, *members) if agent is not None)

    def helper_for(self, live: LiveSession | None, model: AgentModel) -> AgentModel:
        """Return who writes a title or a summary of a session: the user's choice,
        if its provider may read the session.

        That is one that answered there, or that the user has ticked; else it is `model`. What an imported
        session says about who answered counts for nothing.
        """
        settings = self._documents.settings()
        provider, _, name = settings.helper_model.partition("/")
        messages = () if live is None or live.session.source else live.messages
        answered = (message.model.partition("/")[0] for message in messages)
        if not name or provider not in {model.provider, *answered, *settings.may_read_any}:
            return model
        return self.model(provider, name) if self.has_provider(provider) else model

    def leaders(self) -> list[str]:
        """Return the models that can lead a group, as messages name them."""
        ready = [provider for provider in self._providers() if provider.ready and provider.config.enabled]
        models = [self.model(status.config.id, name) for status in ready for name in status.models]
        return [model.name for model in models if not (model.external or model.guided)]

    def about_user(self, agent: Agent) -> str:
        """Return what an agent is told about the user, "" for nothing."""
        return self._documents.settings().about_user.strip() if agent.knows_user else ""

    def folder(self, folder_id: str) -> Folder:
        """Return a folder by its id; for none, and one that was deleted, one without id, name and skills."""
        folders = (item for item in self._documents.folders.all() if item.id == folder_id)
        return next(folders, Folder(id="", name=""))

    def in_folder(self, agent: Agent, folder_id: str) -> Agent:
        """Return an assistant as it works in a folder: with the skills that the folder is given."""
        skills = self.folder(folder_id).skills
        return replace(agent, skills=(*agent.skills, *skills)) if skills else agent

    def first_model(self) -> AgentModel:
        """Return the model that is taken where nobody named one."""
        return self.model_of(Agent(id="", name=""))

    def tools(self, agent: Agent, mode: str, given: Sequence[str] = ()) -> dict[str, Tool]:
        """Return what an agent may use in a mode, by name: the allow-list's tools of its keys, and those of
        its MCP servers. Keys that are not on the list are nobody's; of the sets that a turn is
        given, it has those `given`, and those for files and memory only in a turn that is given them.
        """
        off = tools_off(self.settings(), agent.id)
        given = (*given, SKILLS) if agent.skills and self.skills.of(agent) else given
        # The tool for parts of files comes with the file and not with the agent, that for skills with these.
        keys = {*agent.tools, *({FILE_PARTS, SKILLS} & {*given})}
        found = [tool for tool in self._tools.allowed() if tool.key in keys or tool.group in keys]
        found += self._tools.server_tools(agent.mcp_servers)
        able = (tool for tool in found if mode in tool.modes and tool.key not in off)
        closed = {*GIVEN, FILES, REMEMBER} - {*given}
        # A server may have the name of such a set.
        return {tool.key: tool for tool in able if tool.consent or tool.group not in closed}

    def own_tools(self) -> frozenset[str]:
        """Return the keys of Moot's own tools."""
        return frozenset((SUB_AGENT, *(tool.key for tool in self._tools.allowed())))

    def covered_by(self, prompt: Prompt, answer: Consent) -> tuple[str, ...]:
        """Return the consents of the tools that a lasting answer to an approval allows from now on."""
        if answer in (Consent.ALWAYS, Consent.FOREVER) or not prompt.consent:
            return (prompt.consent or prompt.tool,)
        reading = answer in (Consent.ALWAYS_READING, Consent.FOREVER_READING)
        server, tools = prompt.consent.partition("/")[0], self._tools.server_tools((prompt.server,))
        # Another server may have taken the name since.
        same = (tool for tool in tools if tool.consent.partition("/")[0] == server)
        return tuple(tool.consent for tool in same if tool.reads or not reading)

    def work_consent(self, provider_id: str, folder: str) -> tuple[str, tuple[str, ...]]:
        """Return what the consent to an external agent's work in a folder is bound to,
        and the command line that runs.
        """
        config = next(provider.config for provider in self._providers() if provider.config.id == provider_id)
        return config.work_consent(folder), (config.command, *config.args)

    def may_work(self, consent: str) -> bool:
        """Say whether the user has allowed an external agent's work in a folder for good."""
        return consent in self._documents.consents()

    async def let_work(self, consent: str) -> None:
        """Save that an external agent may work in a folder for good. Raises StorageError."""
        await self._documents.change_consents(lambda known: known | {consent})

    def fitting(self, role: str) -> list[Agent]:
        """Return the assistants that are switched on, those that fit a role first, as `workers` takes
        them.
        """
        return sorted((item for item in self.agents() if item.enabled), key=lambda one: self._rank(one, role))

    def taker(self, id_or_name: str) -> Agent:
        """Return the assistant that shall do some work.
        Raises NotFound, BadInput for one that is switched off.
        """
        agent = self._assistants.find(id_or_name)
        if not agent.enabled:
            raise BadInput("assistant_disabled", assistant=agent.name)
        return agent

    def named(self, id_or_name: str) -> Agent | None:
        """Return the assistant that could do some work, None where there is none of that id or name."""
        with suppress(MootError):
            return self.taker(id_or_name)
        return None

    def workers(self, step: WorkflowStep, given_to: str = "") -> list[Agent]:
        """Return who may do a step: whom the user gave it to, else whom it names.

        Else it is the user's own assistants that fit its role, of which those with the role come before those
        whose role or name has a word for it, and these before those whose description has. Then those that
        come with the program, in the same way, and at last a temporary one.
        """
        for name in filter(None, (given_to, step.assistant)):
            if agent := self.named(name):
                return [agent]
        fitting = self.fitting(step.role)
        best = self._rank(fitting[0], step.role) if fitting else (True,)
        if best[0]:
            return [Agent(id=f"{MADE_FOR}{role_of(step.role)}", name=step.role, role=step.role)]
        return [item for item in fitting if self._rank(item, step.role) == best]

    def _rank(self, agent: Agent, role: str) -> tuple[bool, bool, int]:
        far = distance(agent, role)
        return far is None, self._assistants.is_built_in(agent.id), far or 0

    def members(self, group: GroupState) -> tuple[Agent, ...]:
        """Return the members of a group that are still there and switched on, in order, with the tools
        for files.
        """
        members = (agent for agent in map(self.agent, group.members) if agent is not None and agent.enabled)
        return tuple(replace(agent, tools=(*agent.tools, FILES)) for agent in members)

    def group(self, group_id: str) -> Group | None:
        """Return a group of the user's, None where it is gone."""
        return next((item for item in self._documents.groups.all() if item.id == group_id), None)

    def may_delegate(self, agent: Agent) -> bool:
        """Whether an agent may call others."""
        listed = SUB_AGENT in agent.tools and SUB_AGENT not in tools_off(self.settings(), agent.id)
        return listed and bool(agent.sub_agents)

    def helpers(self, agent: Agent, stack: Sequence[str]) -> tuple[Agent, ...]:
        """Return whom an agent may call from where it stands."""
        return callable_by(agent, stack, self.agents()) if self.may_delegate(agent) else ()

    def functions(
        self, agent: Agent, stack: Sequence[str], mode: str, given: Sequence[str] = ()
    ) -> tuple[Mapping[str, object], ...]:
        """Return the tools of an agent as a model is shown them; `stack` are the ids from the root to it."""
        tools = self.tools(agent, mode, given).values()
        offered = [(tool.key, tool.description, tool.parameters) for tool in tools]
        if whom := self.helpers(agent, stack):
            offered.append((SUB_AGENT, description(whom), PARAMETERS))
        shown = ({"name": key, "description": text, "parameters": dict(form)} for key, text, form in offered)
        return tuple({"type": "function", "function": function} for function in shown)

    def refusal(self, name: str, agent: Agent, stack: Sequence[str], mode: str, given: Sequence[str]) -> str:
        """Return what a model is told that calls what it has not got: why, and what there is instead."""
        offered = [function["function"] for function in self.functions(agent, stack, mode, given)]
        names = ", ".join(str(item["name"]) for item in offered if isinstance(item, dict)) or "none"
        if name in self.tools(agent, AgentMode.DEFAULT, given):
            return f"{name} may not be used in settings mode, which only reads and plans. Available: {names}."
        return f"There is no tool {name[:80]!r} here. Available: {names}."

    async def attach(self, agent: Agent) -> None:
        """Connect the MCP servers an agent names, and look at its skills as they are now."""
        if agent.skills:
            await self.skills.look(agent.skills)
        if agent.mcp_servers:
            await self._tools.attach(agent.mcp_servers)

    def servers(self, agent: Agent) -> tuple[ServerStatus, ...]:
        """Return the MCP servers an agent names, with their state."""
        return tuple(server for server in self._tools.servers() if server.server.name in agent.mcp_servers)

    def model(self, provider_id: str, model: str) -> AgentModel:
        """Return what is known about a provider's model, its default where `model` is ""."""
        status = next((provider for provider in self._providers() if provider.config.id == provider_id), None)
        row = provider_kind(status.config.kind) if status else None
        model = model or (status.default_model if status else "")
        facts = self._facts(provider_id, model)
        images = row is not None and row.images if facts.images is None else facts.images
        label, window = status.label if status else provider_id, facts.window
        window = 0 if facts.source == FactSource.DEFAULT else window
        found = AgentModel(provider=provider_id, model=model, row=row, label=label)
        found = replace(found, images=images, pdf=facts.pdf is True, window=window, tools=facts.tools)
        return replace(found, local=status is not None and is_here(status, model))
