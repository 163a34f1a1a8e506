"""The commands of assistants: find, save, order, share, bring in; `engine.assistants` for the faces."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from app.core.agent import Agent
from app.core.errors import BadInput, NotFound
from app.core.events import AssistantsChanged, EventBus
from app.core.store import Documents
from app.core.text import clean_text
from app.core.tool import ToolChoice, Tools
from app.engine.library.agents import GIVEN, Cast
from app.engine.turns.sub_agents import SUB_AGENT

MAX_NAME = 80
MAX_INSTRUCTIONS = 100_000
MAX_SHARED = 1_000_000
MAX_DEPTH = 10
MAX_STEPS = 100

_UNFIT = re.compile(r"[^\w.-]+")
_SHARED = ("name", "description", "role", "provider", "model", "instructions")
_LISTS = ("tools", "sub_agents", "pages")
_NUMBERS = ("max_depth", "max_steps")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAssistant:
    """An assistant from a file, ready to be saved; `dropped` names what of the file was left out."""

    agent: Agent
    dropped: tuple[str, ...] = ()


class Assistants:
    """What a face may do with assistants; everything raises BadInput, NotFound or StorageError in words."""

    def __init__(self, documents: Documents, tools: Tools, cast: Cast, bus: EventBus) -> None:
        self._documents = documents
        self._tools = tools
        self._cast = cast
        self._bus = bus

    def all(self) -> tuple[Agent, ...]:
        """Return every assistant in the user's order, the program's own included."""
        return self._cast.agents()

    def find(self, id_or_name: str) -> Agent:
        """Return an assistant by id or exact name. Raises NotFound, BadInput where a name is two's."""
        wanted = id_or_name.strip().casefold()
        for agent in self.all():
            if agent.id.casefold() == wanted:
                return agent
        named = [agent for agent in self.all() if agent.name.casefold() == wanted]
        if len(named) > 1:
            raise BadInput("assistant_ambiguous", name=id_or_name, ids=", ".join(one.id for one in named))
        if not named:
            raise NotFound("assistant_not_found", assistant=id_or_name)
        return named[0]

    def is_built_in(self, agent_id: str) -> bool:
        """Whether an assistant is the program's own, which cannot be changed."""
        return self._cast.is_built_in(agent_id)

    def tools(self) -> tuple[ToolChoice, ...]:
        """Return what an assistant may be given, `subAgent` first; an orchestrator's own tools are not."""
        given = (
            ToolChoice(key=tool.key, description=tool.description, group=tool.group)
            for tool in self._tools.allowed()
            if tool.group not in GIVEN
        )
        return (_CALL_OTHERS, *given)

    async def save(self, agent: Agent) -> Agent:
        """Write an assistant; one without an id gets one from its name. Returns it as saved."""
        if not agent.id:
            agent = replace(agent, id=self._free_id(agent.name))
        if self.is_built_in(agent.id):
            raise BadInput("assistant_built_in", assistant=agent.name)
        saved = await self._documents.assistants.save(_checked(agent))
        self._tell()
        return saved

    async def duplicate(self, agent_id: str, name: str) -> Agent:
        """Save a copy under another name."""
        return await self.save(replace(self.find(agent_id), id="", name=name, version=1))

    async def delete(self, agent_id: str) -> None:
        """Take an assistant away; `restore` brings it back."""
        if self.is_built_in(agent_id):
            raise BadInput("assistant_built_in", assistant=agent_id)
        await self._documents.assistants.delete(self.find(agent_id).id)
        self._tell()

    async def restore(self, agent: Agent) -> None:
        """Bring a deleted assistant back as it was. Raises BadInput where it exists."""
        if any(one.id == agent.id for one in self.all()):
            raise BadInput("bin_place_taken", name=agent.name)
        await self._documents.assistants.save(agent)
        self._tell()

    async def versions(self, agent_id: str) -> tuple[Agent, ...]:
        """Return the versions of an assistant that are kept, newest first."""
        return await self._documents.assistants.versions(agent_id)

    async def reorder(self, agent_ids: Sequence[str]) -> None:
        """Keep the order in which assistants are listed."""
        settings = self._documents.settings()
        await self._documents.save_settings(replace(settings, assistant_order=tuple(agent_ids)))
        self._tell()

    def share(self, agent_id: str) -> str:
        """Return an assistant as a file for others; it names tools and models, never keys or commands."""
        agent = self.find(agent_id)
        fields = {
            name: value for name, value in asdict(agent).items() if name in (*_SHARED, *_LISTS, *_NUMBERS)
        }
        return json.dumps({"version": 1, "id": agent.id, **fields}, ensure_ascii=False, indent=2) + "\n"

    def read_shared(self, text: str) -> SharedAssistant:
        """Read a shared file. Raises BadInput that names the field that is wrong.

        Nothing of it runs: tools must be on the allow-list, MCP servers and whatever Moot does not know
        are left out, and `dropped` says so.
        """
        document = read_document(text)
        values: dict[str, object] = {}
        for name in _SHARED:
            value = document.get(name, "")
            if not isinstance(value, str):
                raise BadInput("shared_field", field=name)
            values[name] = clean_text(value)
        for name in _LISTS:
            items = document.get(name, [])
            if not isinstance(items, list) or not all(isinstance(one, str) for one in items):
                raise BadInput("shared_field", field=name)
            values[name] = tuple(clean_text(one) for one in items)
        for name in _NUMBERS:
            number = document.get(name, Agent.__dataclass_fields__[name].default)
            if not isinstance(number, int) or isinstance(number, bool):
                raise BadInput("shared_field", field=name)
            values[name] = number
        known = {key for tool in self.tools() for key in (tool.key, tool.group) if key}
        wanted = values["tools"]
        assert isinstance(wanted, tuple)
        values["tools"] = tuple(key for key in wanted if key in known)
        dropped = [f"tools: {key}" for key in wanted if key not in known]
        dropped += [
            str(name)[:40]
            for name in document
            if name not in (*_SHARED, *_LISTS, *_NUMBERS, "id", "version", "enabled", "busy")
        ]
        wanted_id = document.get("id")
        agent = Agent(id=self._free_id(wanted_id if isinstance(wanted_id, str) else ""), **values)  # type: ignore[arg-type]
        if not wanted_id:
            agent = replace(agent, id=self._free_id(agent.name))
        return SharedAssistant(agent=_checked(agent), dropped=tuple(dropped))

    def _free_id(self, wanted: str) -> str:
        return free_id(wanted, (agent.id for agent in self.all()), "assistant")

    def _tell(self) -> None:
        self._bus.publish(AssistantsChanged(session_id=""))


def free_id(wanted: str, taken: Iterable[str], otherwise: str) -> str:
    """Return an id made of a name that nobody has yet; of `otherwise` where nothing of it can be used."""
    base = _UNFIT.sub("-", wanted.strip().casefold()).strip("-._")[:48] or otherwise
    known = {one.casefold() for one in taken}
    free, number = base, 2
    while free in known:
        free, number = f"{base}-{number}", number + 1
    return free


def _checked(agent: Agent) -> Agent:
    name = " ".join(clean_text(agent.name).split())
    if not name or len(name) > MAX_NAME:
        raise BadInput("assistant_name", most=MAX_NAME)
    if len(agent.instructions) > MAX_INSTRUCTIONS:
        raise BadInput("text_too_long", characters=len(agent.instructions), most=MAX_INSTRUCTIONS)
    if bool(agent.provider) != bool(agent.model):
        raise BadInput("assistant_model")
    if not 0 <= agent.max_depth <= MAX_DEPTH or not 1 <= agent.max_steps <= MAX_STEPS:
        raise BadInput("assistant_limits", depth=MAX_DEPTH, steps=MAX_STEPS)
    return replace(agent, name=name)


def read_document(text: str) -> dict[str, object]:
    """Return what a shared file holds. Raises BadInput for what is no such file."""
    if len(text) > MAX_SHARED:
        raise BadInput("shared_too_long", most=MAX_SHARED)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput("shared_not_json") from None
    if not isinstance(document, dict) or not document.get("name"):
        raise BadInput("shared_not_assistant")
    return document


_CALL_OTHERS = ToolChoice(key=SUB_AGENT, description="Give a task to another assistant and get its summary.")
