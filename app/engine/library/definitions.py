"""The commands that assistants, groups and workflows have in common: find, save, restore, order and share.

Also folders (sessions of one project, with the instructions and files that they are given; `engine.folders`),
the prompts that the user keeps and those that come with the program (`engine.saved_prompts`), and skills.
"""

import asyncio
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin

from app.core.definitions import Agent, SavedPrompt
from app.core.errors import BadInput, NotFound, StorageError
from app.core.events import Event, EventBus, FoldersChanged, SavedPromptsChanged, SkillsChanged
from app.core.files import MOST_CONTEXT, FileReader
from app.core.frozen import Frozen
from app.core.ids import new_id
from app.core.message import Attachments
from app.core.session import Definition, Folder, Session
from app.core.skills import Contents, Skill, SkillLook, SkillState, consent_to, look_at
from app.core.store import DefinitionStore, Documents
from app.core.texts import clean_text, name_order
from app.core.tool import ToolError
from app.engine.names import normal

MAX_NAME = 80
MAX_SHARED = 10_000_000
SENT_SKILLS = "skill_files"
"""Where the files of skills are in a shared file, by name and path."""
CHANGED_ELSEWHERE = "changed_elsewhere"

Noun = TypeVar("Noun")

_UNFIT = re.compile(r"[^\w.-]+")
# A model is one of its provider: who changes one of these fields means both.
_PAIR = ("provider", "model")
# Counted by every save.
_VERSION = "version"


class Shared(Frozen, Generic[Definition]):
    """A definition from a shared file, ready to be saved.

    `dropped` names what of the file was left out; `members` are the assistants of a group. In a group that a
    model proposes, `why` says what it needs a member for.
    """

    definition: Definition
    why: str = ""
    dropped: tuple[str, ...] = ()
    members: tuple["Shared[Agent]", ...] = ()


class LibraryKind(Frozen, Generic[Definition], kw_only=False):
    """What differs between kinds of definitions.

    `name` begins the codes of its errors, `changed` is the event of a change, `order` the setting that holds
    the user's order; the others follow it by their names, or where `by_name` is false, as they were made.
    `shared` are the fields of a shared file; `silent` ones are left out of it without being reported.
    """

    noun: type[Definition]
    name: str
    store: Callable[[Documents], DefinitionStore[Definition]]
    changed: type[Event]
    shared: Collection[str]
    order: str = ""
    silent: Collection[str] = ()
    by_name: bool = True


@dataclass(eq=False, repr=False)
class Definitions(Generic[Definition]):
    """The definitions of one kind; its commands raise BadInput, NotFound or StorageError in words."""

    _kind: LibraryKind[Definition]
    _documents: Documents
    _bus: EventBus
    _language: Callable[[], str]
    # Those that come with the program, by language; they cannot be changed.
    _by_language: Mapping[str, Sequence[Definition]]

    @property
    def _store(self) -> DefinitionStore[Definition]:
        return self._kind.store(self._documents)

    @property
    def _built_in(self) -> dict[str, Definition]:
        return {item.id: item for item in self._by_language.get(self._language(), ())}

    def all(self) -> tuple[Definition, ...]:
        """Return every definition in the user's order; one of the program wins over a file of its id."""
        own, language = list(self._store.all()), self._language()
        if self._kind.by_name:
            own.sort(key=lambda item: name_order(item.name, language))
        known = {item.id: item for item in own} | self._built_in
        ordered = getattr(self._documents.settings(), self._kind.order, ())
        order = {definition_id: place for place, definition_id in enumerate(ordered)}
        return tuple(sorted(known.values(), key=lambda item: order.get(item.id, len(order))))

    def get(self, definition_id: str) -> Definition | None:
        """Return a definition by its id, None where there is none."""
        found: Definition | None = self._built_in.get(definition_id)
        return found or next((item for item in self._store.all() if item.id == definition_id), None)

    def find(self, id_or_name: str) -> Definition:
        """Return a definition by id or exact name. Raises NotFound, BadInput where two have the name."""
        wanted, everyone = normal(id_or_name).strip().casefold(), self.all()
        found = [item for item in everyone if item.id.casefold() == wanted]
        found = found or [item for item in everyone if normal(item.name).casefold() == wanted]
        kind = self._kind.name
        if not found:
            raise NotFound(f"{kind}_not_found", **{kind: id_or_name})
        if len(found) > 1:
            raise BadInput(f"{kind}_ambiguous", name=id_or_name, ids=", ".join(item.id for item in found))
        return found[0]

    def is_built_in(self, definition_id: str) -> bool:
        """Whether a definition comes with the program and cannot be changed."""
        return definition_id in self._built_in

    async def save(self, definition: Definition) -> Definition:
        """Write a definition and return it as saved; one without an id gets one from its name."""
        return await self._save(lambda: definition)

    async def change(self, definition_id: str, change: Callable[[Definition], Definition]) -> Definition:
        """Write what `change` makes of a definition, in which no other change is lost, and return it
        as saved.
        """
        return await self._save(lambda: change(self.find(definition_id)))

    async def edit(
        self, before: Definition, after: Definition, *, anyway: bool = False
    ) -> tuple[Definition, bool]:
        """Write what differs between `before` and `after` over what is stored now.

        Return it as saved, and whether it has changes of others too. Raises NotFound where it was deleted,
        and BadInput where somebody else has changed the same field since `before`, unless `anyway`.
        """
        joined = False

        def make() -> Definition:
            nonlocal joined
            stored = self.get(after.id)
            if stored is None:
                raise NotFound(f"{self._kind.name}_not_found", **{self._kind.name: after.name})
            result: Definition
            result, clash = merged(before, after, stored)
            if clash and not anyway:
                raise BadInput(CHANGED_ELSEWHERE, name=stored.name)
            joined = replace(result, version=after.version) != after
            return result

        return await self._save(make), joined

    async def duplicate(self, definition_id: str, name: str) -> Definition:
        """Save a copy under another name."""
        return await self.save(replace(self.find(definition_id), id="", name=name, version=1))

    async def delete(self, definition_id: str) -> None:
        """Move a definition to the trash; `restore` brings it back."""
        self._check_own(definition_id, definition_id)
        await self._store.delete(self.find(definition_id).id)
        self._tell()

    async def restore(self, definition: Definition) -> None:
        """Bring a deleted definition back as it was. Raises BadInput where there is one of its id."""

        def make() -> Definition:
            if any(item.id == definition.id for item in self.all()):
                raise BadInput("bin_place_taken", name=definition.name)
            return definition

        await self._store.change(make, restores=True)
        self._tell()

    async def versions(self, definition_id: str) -> tuple[Definition, ...]:
        """Return the versions of a definition that are kept, newest first."""
        return await self._store.versions(definition_id)

    async def reorder(self, definition_ids: Sequence[str]) -> None:
        """Keep the order in which definitions of a kind that has one are listed."""
        order: dict[str, Any] = {self._kind.order: tuple(definition_ids)}
        await self._documents.change_settings(lambda settings: replace(settings, **order))
        self._tell()

    def share(self, definition_id: str) -> str:
        """Return a definition as JSON for others; it names tools and models, never keys or commands."""
        return json.dumps(self._to_share(self.find(definition_id)), ensure_ascii=False, indent=2) + "\n"

    def read_shared(self, text: str) -> Shared[Definition]:
        """Read a shared file. Raises BadInput that names the field that is wrong; nothing of it runs."""
        return self._from_shared(read_document(text))

    async def bring_in(self, shared: Shared[Definition]) -> Definition:
        """Save what was read from a shared file."""
        return await self.save(shared.definition)

    async def _save(self, make: Callable[[], Definition]) -> Definition:
        def checked() -> Definition:
            definition = make()
            if not definition.id:
                definition = replace(definition, id=self._free_id(definition.name))
            self._check_own(definition.id, definition.name)
            return self._checked(definition)

        saved = await self._store.change(checked)
        self._tell()
        return saved

    def _checked(self, definition: Definition) -> Definition:
        """Return a definition with its name in order. Raises BadInput."""
        name = " ".join(clean_text(definition.name).split())
        if not name or len(name) > MAX_NAME:
            raise BadInput(f"{self._kind.name}_name", most=MAX_NAME)
        return replace(definition, name=name)

    def _to_share(self, definition: Definition) -> dict[str, Any]:
        wanted = ("id", *self._kind.shared)
        return {"version": 1, **{name: item for name, item in asdict(definition).items() if name in wanted}}

    def _from_shared(self, document: Mapping[str, Any]) -> Shared[Definition]:
        definition = read_noun(self._kind.noun, {**document, "id": ""}, only=("id", *self._kind.shared))
        wanted = document.get("id")
        wanted = wanted if wanted and isinstance(wanted, str) else definition.name
        definition = replace(definition, id=self._free_id(wanted))
        expected = {"id", "version", *self._kind.shared, *self._kind.silent}
        dropped = tuple(str(name)[:40] for name in document if name not in expected)
        return Shared(definition=self._checked(definition), dropped=dropped)

    def _check_own(self, definition_id: str, name: str) -> None:
        if self.is_built_in(definition_id):
            raise BadInput(f"{self._kind.name}_built_in", **{self._kind.name: name})

    def _free_id(self, wanted: str) -> str:
        """Return an id made of a name that nobody has yet."""
        base = _UNFIT.sub("-", wanted.strip().casefold()).strip("-._")[:48] or self._kind.name
        # What is remembered for a deleted assistant is its own, also when it is brought back.
        known = {item.id.casefold() for item in self.all()} | {n.agent for n in self._documents.notes()}
        free, number = base, 2
        while free in known:
            free, number = f"{base}-{number}", number + 1
        return free

    def _tell(self) -> None:
        self._bus.publish(self._kind.changed(session_id=""))


def read_document(text: str) -> dict[str, object]:
    """Return the JSON object of a shared file. Raises BadInput for what is no such file."""
    if len(text) > MAX_SHARED:
        raise BadInput("shared_too_long", most=MAX_SHARED)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput("shared_not_json") from None
    if not isinstance(document, dict) or not document.get("name"):
        raise BadInput("shared_not_assistant")
    return document


def sent_skills(document: Mapping[str, Any], shared: Shared[Any]) -> dict[str, Contents]:
    """Return the files of the skills that a shared file names and holds. Raises BadInput."""
    named = {name for each in (shared, *shared.members) for name in getattr(each.definition, "skills", ())}
    try:
        return {
            name: {path: b64decode(data, validate=True) for path, data in files.items()}
            for name, files in document.get(SENT_SKILLS, {}).items()
            if name in named
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise BadInput("shared_field", field=SENT_SKILLS) from error


def read_noun(
    noun: type[Noun], document: Mapping[str, Any], only: Collection[str] = (), place: str = ""
) -> Noun:
    """Return the dataclass a JSON object stands for, of its fields `only` these where any are named.

    Unknown fields are left out. Raises BadInput that names the field that is wrong, or the `place` of the
    object.
    """
    values = {}
    for described in fields(noun):  # type: ignore[arg-type]
        name, field_place = described.name, place or described.name
        if only and name not in only:
            continue
        if name in document:
            values[name] = _read_value(described.type, document[name], field_place)
        elif described.default is MISSING:
            raise BadInput("shared_field", field=field_place)
    return noun(**values)


def _read_value(kind: Any, value: object, place: str) -> object:
    if is_dataclass(kind) and isinstance(value, dict):
        return read_noun(kind, value, place=place)  # type: ignore[arg-type]
    if get_origin(kind) is tuple and isinstance(value, list):
        return tuple(_read_value(get_args(kind)[0], item, place) for item in value)
    if type(value) is not kind:
        raise BadInput("shared_field", field=place)
    return clean_text(value) if isinstance(value, str) else value


def read_built_in(folder: Path, noun: type[Definition]) -> dict[str, list[Definition]]:
    """Read the program's own definitions by language: a folder each, with one JSON file a definition."""
    found: dict[str, list[Definition]] = {}
    for file in sorted(folder.glob("*/*.json")):
        definition = read_noun(noun, json.loads(file.read_text(encoding="utf-8")))
        found.setdefault(file.parent.name, []).append(definition)
    return found


def merged(before: Any, mine: Any, theirs: Any) -> tuple[Any, bool]:
    """Return `theirs` with what differs between `before` and `mine`,
    and whether both sides changed the same field.

    All three are of one dataclass. Where both changed a field in different ways, the result has that of
    `mine`; of a list of names it has what either side added, and not what either removed.
    """
    names = [item.name for item in fields(mine) if item.name != _VERSION]
    paired = set(_PAIR) <= set(names)
    values: dict[str, Any] = {}
    clash = False
    for name in names:
        group = _PAIR if paired and name in _PAIR else (name,)
        old, own, other = ([getattr(item, each) for each in group] for item in (before, mine, theirs))
        if own == old:
            continue
        values[name] = getattr(mine, name)
        if other in (old, own):
            continue
        if is_dataclass(own[0]) and type(old[0]) is type(own[0]) is type(other[0]):
            values[name], inside = merged(old[0], own[0], other[0])
            clash = clash or inside
        elif _is_names(own[0]):
            values[name] = _joined(old[0], own[0], other[0])
        else:
            clash = True
    return replace(theirs, **values), clash


def _is_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def _joined(before: tuple[str, ...], mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    kept = (item for item in mine if item in theirs or item not in before)
    return (*kept, *(item for item in theirs if item not in before and item not in mine))


_OF_FOLDER = ("name", "instructions", "skills")
_KIND = LibraryKind(Folder, "folder", attrgetter("folders"), FoldersChanged, _OF_FOLDER, "folder_order")


@dataclass(eq=False, repr=False)
class Folders(Definitions[Folder]):
    """What a user may do with folders; a session of a deleted one is in none until the folder is restored."""

    _kind: LibraryKind[Folder] = field(default=_KIND, init=False)
    _files: FileReader

    async def briefed(self, session: Session) -> Session:
        """Return a session with the instructions and files of its folder as they are now.
        Raises BadInput for the files.

        A debate has the files it was set up with.
        """
        folder = self.get(session.folder)
        instructions = clean_text(folder.instructions).strip() if folder else ""
        if session.debate is not None:
            return replace(session, debate=replace(session.debate, instructions=instructions))
        if session.chat is None:
            return session
        context = await self._context(folder) if folder else ()
        return replace(session, chat=replace(session.chat, instructions=instructions, context=context))

    async def _context(self, folder: Folder) -> Attachments:
        files = [(await self._files.read(Path(path))).attachment() for path in folder.context]
        if sum(len(file.text) for file in files) > MOST_CONTEXT:
            raise BadInput("context_too_much", most=MOST_CONTEXT)
        return tuple(files)

    def _free_id(self, wanted: str) -> str:
        # Sessions name their folder by its id: a new folder must not get the sessions of a deleted one.
        return new_id()


_OF_PROMPT = ("name", "text")
PROMPT_KIND = LibraryKind(
    SavedPrompt, "saved_prompt", attrgetter("saved_prompts"), SavedPromptsChanged, _OF_PROMPT, "", ("kind",)
)


class SeenSkill(Frozen):
    """A skill with its state, a SkillState, and what the user should know of before it is allowed."""

    skill: Skill
    state: str
    look: SkillLook = SkillLook()


@dataclass(eq=False, repr=False)
class Skills:
    """What a user may do with skills, and which of an assistant's it is told of and may read: only those that
    come with Moot, and those the user has allowed as they are now.
    """

    _documents: Documents
    _bus: EventBus
    _language: Callable[[], str]

    def __post_init__(self) -> None:
        self._files = self._documents.skills
        # What the disk says is needed as it is.
        self.look, self.elsewhere = self._files.look, self._files.elsewhere

    def all(self) -> tuple[Skill, ...]:
        """Return every skill as it was last looked at, those of Moot first."""
        return self._files.known(self._language())

    def state(self, skill: Skill) -> str:
        """Return whether assistants read a skill, as a SkillState."""
        if skill.problem is not None:
            return SkillState.REFUSED
        if skill.built_in:
            return SkillState.BUILT_IN
        consents = self._documents.consents()
        if skill.consent in consents:
            return SkillState.ALLOWED
        before = any(item.startswith(consent_to(skill.name)) for item in consents)
        return SkillState.CHANGED if before else SkillState.ASKING

    def of(self, agent: Agent) -> tuple[Skill, ...]:
        """Return the skills of an assistant that it may read, in its order."""
        usable = {skill.name: skill for skill in self.all() if self.may_be_read(skill)}
        return tuple(usable[name] for name in dict.fromkeys(agent.skills) if name in usable)

    async def find(self, name: str) -> tuple[Skill, Contents]:
        """Return a skill as it is now, with its files. Raises NotFound, BadInput for one not taken."""
        await self.look((name,))
        return await self._files.read(name, self._language())

    async def seen(self, name: str) -> tuple[Skill, Contents, SkillLook]:
        """Return a skill as it is now, its files, and what the user should know of before it is allowed."""
        skill, contents = await self.find(name)
        # A long text takes a while.
        return skill, contents, await asyncio.to_thread(look_at, contents)

    async def overview(self) -> tuple[SeenSkill, ...]:
        """Return every skill as it is now."""
        await self.look()
        found = []
        for known in self.all():
            skill, look = known, SkillLook()
            if not known.built_in and known.problem is None:
                skill, _, look = await self.seen(known.name)
            found.append(SeenSkill(skill=skill, state=self.state(skill), look=look))
        return tuple(found)

    async def add(self, path: str) -> tuple[Skill, ...]:
        """Keep the skills of a folder or a zip; none of them is allowed, also where one of its name was.

        Those that are not taken have a problem.
        """
        await self.look(())
        added = await self._files.add(path)
        await self._drop({skill.name for skill in added if skill.problem is None})
        return added

    async def packed(self, text: str) -> str:
        """Return a shared file with the files of the skills that it names and the user has allowed.
        Raises BadInput where that is too long.
        """
        document, files = json.loads(text), dict[str, dict[str, str]]()
        sharers = (document, *document.get("members", ()))
        for name in dict.fromkeys(name for each in sharers for name in each.get("skills", ())):
            with suppress(BadInput):
                skill, contents = await self.find(name)
                if self.state(skill) == SkillState.ALLOWED:
                    files[name] = {path: b64encode(data).decode() for path, data in contents.items()}
        if not files:
            return text
        text = json.dumps({**document, SENT_SKILLS: files}, ensure_ascii=False, indent=2) + "\n"
        if len(text) > MAX_SHARED:
            raise BadInput("shared_too_long", most=MAX_SHARED)
        return text

    async def take(self, sent: Mapping[str, Contents]) -> tuple[Skill, ...]:
        """Keep skills that came with a shared file, as `add` does, but none in place of another."""
        await self.look(())
        added = await self._files.take(sent)
        await self._drop({skill.name for skill in added if skill.problem is None})
        return added

    async def allow(self, skill: Skill) -> None:
        """Save that assistants may read a skill as the user has seen it."""
        if skill.problem is not None:
            raise skill.problem
        await self._drop({skill.name}, skill.consent)

    async def remove(self, name: str) -> Callable[[], Awaitable[None]]:
        """Move a skill to the trash, and return what brings it back."""
        file = await self._files.remove(name)
        self._tell()

        async def bring_back() -> None:
            await self._files.put_back(file)
            self._tell()

        return bring_back

    async def read_for(self, agent: Agent, name: str) -> Contents:
        """Return the files of a skill of an assistant. Raises ToolError for one that it may not read now."""
        try:
            if name in agent.skills:
                skill, contents = await self.find(name)
                if self.may_be_read(skill):
                    return contents
        except (BadInput, StorageError):
            pass
        known = ", ".join(skill.name for skill in self.of(agent)) or "none"
        raise ToolError(f"read_skill: there is no skill {name[:80]!r} that you may read. Skills: {known}.")

    def may_be_read(self, skill: Skill) -> bool:
        """Return whether assistants may read a skill as it is."""
        return self.state(skill) in (SkillState.BUILT_IN, SkillState.ALLOWED)

    async def _drop(self, names: Collection[str], *new: str) -> None:
        """Withdraw the consents to skills, save new ones, and tell that skills changed."""
        begins = tuple(map(consent_to, names))
        await self._documents.change_consents(
            lambda known: frozenset((*(item for item in known if not item.startswith(begins)), *new))
        )
        self._tell()

    def _tell(self) -> None:
        self._bus.publish(SkillsChanged(session_id=""))
