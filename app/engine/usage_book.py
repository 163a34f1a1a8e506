"""Tokens and money by month, over all sessions, and the month's limit; `engine.usage` for the faces.

What a call used is noted where its message is finished, once, before the session itself is written.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass, field, fields

from app.core.definitions import ORCHESTRATOR
from app.core.errors import FailureKind, ProviderError
from app.core.events import Event, EventBus, MessageFinished, UsageReported
from app.core.frozen import Frozen
from app.core.ids import utc_now
from app.core.message import Total, UsageEntry, totals
from app.core.provider import ModelRequest, Models
from app.core.settings import Settings
from app.core.store import UsageLedger

# What each name had of a month, the dearest first.
Shares = list[tuple[str, Total]]


class MonthReport(Frozen):
    """A month's sum and what it is made of."""

    month: str
    total: Total
    # By "provider/model".
    models: Shares
    # By the author's name and the session's id; "" is Moot itself, all orchestrators are one.
    authors: Shares
    sessions: Shares


@dataclass(eq=False, repr=False)
class UsageBook:
    """Knows what every month used and cost; months are UTC's, as providers bill them."""

    _ledger: UsageLedger
    _models: Models
    _settings: Callable[[], Settings]
    _bus: InitVar[EventBus]
    _now: Callable[[], str] = utc_now
    _before: dict[str, Total] | None = field(default=None, init=False)
    _own: dict[str, Total] = field(default_factory=dict, init=False)

    def __post_init__(self, bus: EventBus) -> None:
        bus.subscribe(self._on_events)
        self.close = self._ledger.close

    async def months(self) -> list[tuple[str, Total]]:
        """Return the sum of each month, the newest first; this month's is there always. Raises
        StorageError.
        """
        before = await self._read()
        months = {self._now()[:7], *before, *self._own}
        return [(month, self._sum(before, month)) for month in sorted(months, reverse=True)]

    async def this_month(self) -> Total:
        """Return this month's sum so far. Raises StorageError."""
        return self._sum(await self._read(), self._now()[:7])

    async def since(self, at: str) -> Total:
        """Return what was used since a time, in UTC. Raises StorageError."""
        months = {at[:7], self._now()[:7]}
        entries = [entry for month in months for entry in await self._ledger.entries(month)]
        return Total.of(*(entry for entry in entries if entry.at >= at))

    async def of(self, month: str) -> MonthReport:
        """Return what a month's sum is made of. Raises StorageError."""
        entries = await self._ledger.entries(month)
        return MonthReport(
            month=month,
            total=Total.of(*entries),
            models=_shares((f"{entry.provider}/{entry.model}", entry) for entry in entries),
            authors=_shares((_who(entry), entry) for entry in entries),
            sessions=_shares((entry.session_id, entry) for entry in entries),
        )

    async def csv(self, month: str) -> str:
        """Return every call of a month as a table for a spreadsheet, oldest first. Raises StorageError."""
        sheet = io.StringIO()
        names = [field.name for field in fields(UsageEntry)]
        rows = csv.writer(sheet)
        rows.writerow(names)
        for entry in await self._ledger.entries(month):
            rows.writerow([_cell(getattr(entry, name)) for name in names])
        return sheet.getvalue()

    async def check(self, request: ModelRequest) -> None:
        """Raise ProviderError (budget_month) where the month's limit forbids a call.

        The cost of the call itself is not counted: the call that reaches the limit is made to its end, and so
        are others that have begun. A model of this computer or its network, which is free, is never refused;
        one without a known price is, though its cost is not counted.
        """
        limit = self._settings().max_month_usd
        if not limit or self._models.is_free(request.provider):
            return
        spent = (await self.this_month()).known_usd
        if spent >= limit:
            raise ProviderError(FailureKind.BUDGET_MONTH, f"${spent:.2f} / ${limit:.2f}")

    def note(self, entry: UsageEntry) -> None:
        """Count a call that has ended."""
        self._ledger.add(entry)
        self._count([entry])

    async def bring_in(self, entries: Sequence[UsageEntry]) -> None:
        """Count the calls of a backup that are not known here. Raises StorageError."""
        self._count(await self._ledger.bring_in(entries))

    def _count(self, entries: Sequence[UsageEntry]) -> None:
        for month, total in totals((entry.month, entry) for entry in entries).items():
            self._own[month] = self._own.get(month, Total()) + total

    async def _read(self) -> dict[str, Total]:
        """Return what was used before the program began; read once."""
        if self._before is None:
            self._before = await self._ledger.months()
        return self._before

    def _sum(self, before: dict[str, Total], month: str) -> Total:
        return before.get(month, Total()) + self._own.get(month, Total())

    def _on_events(self, events: tuple[Event, ...]) -> None:
        reports = [event for event in events if isinstance(event, UsageReported)]
        for event in events if reports else ():
            if isinstance(event, MessageFinished) and (used := event.message.usage) is not None:
                message = event.message
                at, session_id = reports[0].at, event.session_id
                self.note(UsageEntry.of(used, message.id, at, session_id, message.author))


def _cell(value: object) -> object:
    """Return the text of a cell: names cannot be formulas, and an unknown price is not 0."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@")):
        return f"'{value}"
    return "n/a" if value is None else value


def _who(entry: UsageEntry) -> str:
    """Return whose call it was: an orchestrator's name is another one in each language."""
    return ORCHESTRATOR if entry.author_id == ORCHESTRATOR else entry.author


def _shares(calls: Iterable[tuple[str, UsageEntry]]) -> Shares:
    shares = totals(calls).items()
    return sorted(shares, key=lambda share: (-share[1].known_usd, -share[1].used.tokens, share[0]))
