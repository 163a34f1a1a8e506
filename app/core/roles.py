"""The roles that assistants have in a team, and the names by which each is known; pure."""

from collections.abc import Mapping

from app.core.agent import Agent

# A role matches exactly or by one of these names, never by a part of its name.
ROLES: Mapping[str, tuple[str, ...]] = {
    "po": ("product owner", "기획자"),
    "pm": ("project manager", "product manager"),
    "designer": ("디자이너",),
    "architect": ("아키텍트",),
    "fe": ("frontend", "front-end", "프론트엔드"),
    "be": ("backend", "back-end", "백엔드"),
    "qa": ("tester", "quality assurance", "테스터"),
}
_ALIASES = {name: role for role, names in ROLES.items() for name in (role, *names)}


def role_of(text: str) -> str:
    """Return the role a text names, exactly or by an alias; otherwise the text itself in lower case."""
    folded = " ".join(text.casefold().split())
    return _ALIASES.get(folded, folded)


def roles_of(agent: Agent) -> frozenset[str]:
    """Return the roles an assistant fills: its own, and those it is called as, as the ready-made architect is."""
    return frozenset(map(role_of, (agent.role, agent.id, agent.name)))
