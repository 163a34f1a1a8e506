"""What is known about models, from every source, and how they must be asked; kept on disk by the owner
of the book.
"""

import asyncio
import contextlib
import dataclasses
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from app.core import provider as core_provider
from app.core.errors import MootError
from app.core.ids import utc_now
from app.core.owned_tasks import start_owned
from app.core.provider import FactSource, KnownFacts, KnownModels, ModelFacts, ModelQuirks, believed

# A server may be corrected; after this it is asked in the usual way again.
_QUIRKS_LAST = timedelta(days=30)
_WINDOW = re.compile(
    r"max(?:imum)? (?:context|prompt|model|input) length (?:is|of) (\d+)|"
    r"context (?:window|size|length) of (\d+)"
    r"|> (\d+) maximum|context (?:size|length) (?:of )?\(?(\d+)|number of tokens allowed \((\d+)"
    r"|token count of \d+ exceeds the limit of (\d+)|.max_new_tokens. must be <= (\d+)"
    r"|max size: (\d+) tokens|n_ctx\W{1,4}(\d+)",
    re.IGNORECASE,
)

Save = Callable[[KnownModels], Awaitable[None]]


class FactBook:
    """Remembers what each source says about a model; the newest of a source replaces what it said before.

    `save` is called with all of it after a change.
    """

    def __init__(self, known: KnownModels | None = None, save: Save | None = None) -> None:
        known = known or KnownModels()
        old = (datetime.now(UTC) - _QUIRKS_LAST).isoformat()
        self._facts = {(fact.provider, fact.model, fact.facts.source): fact.facts for fact in known.facts}
        self._quirks = {(quirk.base_url, quirk.model): quirk for quirk in known.quirks if quirk.at > old}
        self._save = save
        self._saving: asyncio.Task[None] | None = None
        self._unsaved = False

    def believed(self, provider: str, model: str, *, local: bool) -> ModelFacts:
        """Return what is believed about a model."""
        said = (self._facts.get((provider, model, source)) for source in FactSource)
        return believed((facts for facts in said if facts is not None), local=local)

    def has(self, provider: str, model: str, source: FactSource) -> bool:
        """Return whether a source has said anything about a model."""
        return (provider, model, source) in self._facts

    def note(self, provider: str, model: str, facts: ModelFacts) -> None:
        """Remember what a source says, with the time; what it said before is kept where nothing changed."""
        place = (provider, model, facts.source)
        before = self._facts.get(place)
        if before is not None and dataclasses.replace(facts, at=before.at) == before:
            return
        self._facts[place] = dataclasses.replace(facts, at=utc_now())
        self._keep()

    def note_window(self, provider: str, model: str, window: int) -> None:
        """Remember how many tokens a server says that its model reads at once, beside what else it said."""
        said = self._facts.get((provider, model, FactSource.SERVER), ModelFacts(source=FactSource.SERVER))
        self.note(provider, model, dataclasses.replace(said, window=window))

    def note_refusal(self, provider: str, model: str, detail: str) -> None:
        """Learn a model's window from the words with which a request was refused as too long."""
        if match := _WINDOW.search(detail.replace(",", "")):
            self.note_limit(provider, model, int(next(filter(None, match.groups()))))

    def note_limit(self, provider: str, model: str, window: int) -> None:
        """Remember the window that was learnt from a server's behaviour; it said nothing truer before."""
        said = self._facts.get((provider, model, FactSource.SERVER))
        if said is not None and said.window > window:
            self.note_window(provider, model, window)
        self.note(provider, model, ModelFacts(window=window, source=FactSource.ERROR))

    def quirks(self, base_url: str, model: str) -> ModelQuirks | None:
        """Return how a model at an address must be asked, None where it refused nothing."""
        known = self._quirks.get((base_url, model))
        return known.quirks if known is not None else None

    def note_quirks(self, base_url: str, model: str, fields: Mapping[str, Any]) -> None:
        """Remember how a model must be asked."""
        quirks = msgspec.convert(fields, ModelQuirks)
        known = core_provider.KnownQuirks(base_url=base_url, model=model, at=utc_now(), quirks=quirks)
        self._quirks[base_url, model] = known
        self._keep()

    async def close(self) -> None:
        """Wait until all is saved."""
        if self._saving is not None:
            await asyncio.gather(self._saving, return_exceptions=True)

    def _keep(self) -> None:
        self._unsaved = True
        if self._save is not None and (self._saving is None or self._saving.done()):
            self._saving = start_owned(self._save_all(self._save))

    async def _save_all(self, save: Save) -> None:
        while self._unsaved:
            self._unsaved = False
            facts = tuple(
                KnownFacts(provider=provider, model=model, facts=facts)
                for (provider, model, _), facts in self._facts.items()
            )
            # What is lost can be learnt again.
            with contextlib.suppress(MootError):
                await save(KnownModels(facts=facts, quirks=tuple(self._quirks.values())))
