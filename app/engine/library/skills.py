"""The commands of skills, and which of an assistant's it is told of and may read.

Only those that come with Moot, and those the user has allowed as they are now. Given to a folder, a skill is
one of every assistant that works there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from app.core.definitions import Agent
from app.core.errors import BadInput, StorageError
from app.core.events import EventBus, SkillsChanged
from app.core.frozen import Frozen
from app.core.skills import Contents, Skill, SkillFiles, SkillLook, SkillState, consent_to, look_at
from app.core.store import Documents
from app.core.tool import ToolError


class SeenSkill(Frozen):
    """A skill with its state, a SkillState, and what the user should know of before it is allowed."""

    skill: Skill
    state: str
    look: SkillLook = SkillLook()


@dataclass(eq=False, repr=False)
class Skills:
    """What a user may do with skills; raises BadInput, NotFound or StorageError in words."""

    _documents: Documents
    _bus: EventBus
    _language: Callable[[], str]

    @property
    def _files(self) -> SkillFiles:
        return self._documents.skills

    def all(self) -> tuple[Skill, ...]:
        """Return every skill as it was last looked at, those of Moot first."""
        return self._files.known(self._language())

    async def look(self, names: Collection[str] | None = None) -> None:
        """Look at the skills of these names as they are now, or at all."""
        await self._files.look(names)

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
        names = {skill.name for skill in added if skill.problem is None}
        await self._drop(names)
        self._tell()
        return added

    async def elsewhere(self) -> tuple[Skill, ...]:
        """Return the skills that other programs keep in the user's home, each with its place."""
        return await self._files.elsewhere()

    async def allow(self, skill: Skill) -> None:
        """Save that assistants may read a skill as the user has seen it."""
        if skill.problem is not None:
            raise skill.problem
        await self._drop({skill.name}, skill.consent)
        self._tell()

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
        """Withdraw the consents to skills, and save new ones."""
        begins = tuple(map(consent_to, names))
        await self._documents.change_consents(
            lambda known: frozenset((*(item for item in known if not item.startswith(begins)), *new))
        )

    def _tell(self) -> None:
        self._bus.publish(SkillsChanged(session_id=""))
