"""What the user allowed of MCP servers: which may run, with which tools, and which of these run without a question."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from app.core.store import Documents
from app.core.tool import PARTS, McpServer

_ALWAYS = "/always"

Offer = Mapping[str, Any]


def consent_of(server: McpServer, offer: Offer) -> str:
    """Return what the consent to a tool is bound to: its server and the tool as it is now."""
    return f"{server.fingerprint}/{offer['hash']}"


class ServerConsents:
    """Reads and saves consents: a server's fingerprint, the fingerprint with a slash once its tools were seen, and the
    fingerprint with each tool's hash; with `/always` behind it that tool runs without a question.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def may_run(self, server: McpServer) -> bool:
        """Say whether a server is switched on and allowed as it is now."""
        return not server.disabled and server.fingerprint in self._documents.consents()

    def knows_tools(self, server: McpServer) -> bool:
        """Say whether the user has allowed tools of a server, which may be none."""
        return f"{server.fingerprint}/" in self._documents.consents()

    def allowed(self, server: McpServer, offered: Sequence[Offer]) -> list[Offer]:
        """Return the offered tools that are those the user has allowed."""
        consents = self._documents.consents()
        return [offer for offer in offered if consent_of(server, offer) in consents]

    def changes(self, server: McpServer, offer: Offer) -> tuple[str, ...]:
        """Return codes of what is new of a tool since the user allowed it, with what it now says of its effects."""
        before = [one.partition("/")[2].removesuffix(_ALWAYS).split(".") for one in self._of(server)]
        now = offer["hash"].split(".")
        same = [parts for parts in before if len(parts) == len(now) and parts[0] == now[0]]
        if not same:
            # Before 0.1.0 was out, a consent was one digest of the name, the description and the schema.
            return ("unknown",) if any(len(parts) == 1 and parts[0] for parts in before) else ("tool",)
        nearest = max(same, key=lambda parts: sum(map(str.__eq__, parts, now)))
        other = [part for part, one, new in zip(PARTS, nearest, now, strict=True) if one != new]
        said = "reads" if offer["reads"] else "deletes" if offer["deletes"] else "effects"
        return tuple(said if part == "effects" else part for part in other)

    def _of(self, server: McpServer) -> list[str]:
        return [one for one in self._documents.consents() if one.startswith(f"{server.fingerprint}/")]

    def asks(self, server: McpServer, offer: Offer) -> bool:
        """Say whether the user is asked before each call of a tool."""
        return consent_of(server, offer) + _ALWAYS not in self._documents.consents()

    def lasting(self, server: McpServer) -> int:
        """Return how many tools of a server run without a question, also those not known now."""
        return sum(_is_lasting(server, one) for one in self._documents.consents())

    def known(self, server: McpServer) -> int:
        """Return how many tools of a server the user has allowed."""
        return sum(not one.endswith(("/", _ALWAYS)) for one in self._of(server))

    async def allow(self, server: McpServer, offered: Sequence[Offer] | None) -> None:
        """Save the consent to a server, and to its tools where they are known, in place of those allowed before."""
        fingerprint = server.fingerprint
        tools = (
            set() if offered is None else {f"{fingerprint}/", *(consent_of(server, one) for one in offered)}
        )
        await self._documents.change_consents(
            lambda known: (
                frozenset(
                    one
                    for one in known
                    if not tools
                    or not one.startswith(f"{fingerprint}/")
                    # A lasting permission is bound to the tool as it was.
                    or (_is_lasting(server, one) and one.removesuffix(_ALWAYS) in tools)
                )
                | tools
                | {fingerprint}
            )
        )

    async def withdraw(self, fingerprint: str) -> None:
        """Withdraw the consent to the servers of a fingerprint and to their tools."""
        await self._documents.change_consents(
            lambda known: frozenset(one for one in known if one.partition("/")[0] != fingerprint)
        )

    async def permit(self, consents: Collection[str]) -> None:
        """Save that these tools, as they are named in their consents, run without a question for good."""
        await self._documents.change_consents(
            lambda known: known | {one + _ALWAYS for one in consents if one in known}
        )

    async def ask_again(self, server: McpServer) -> None:
        """Withdraw the lasting permissions of a server's tools."""
        await self._documents.change_consents(
            lambda known: frozenset(one for one in known if not _is_lasting(server, one))
        )


def _is_lasting(server: McpServer, consent: str) -> bool:
    return consent.startswith(f"{server.fingerprint}/") and consent.endswith(_ALWAYS)
