"""The voting check: whether a model chooses for what an option says, or for the place in which it stands.

A model that is asked for one of two options always names one, which looks like a vote. So models that are not known
well are asked eight questions in both orders, once; what a model answers twice is stable. One with fewer than
`LEAST_STABLE` such answers speaks, but its votes and judgements would count for nothing.
"""

import asyncio
import re
from collections.abc import Iterable

from app.core.catalog import provider_kind
from app.core.errors import ProviderError
from app.core.json_values import object_in
from app.core.provider import one_message
from app.core.provider_kind import RequestForm
from app.core.store import Documents
from app.engine.debate.replies import schema_object
from app.engine.providers import provider_of
from app.engine.turns.metered_models import MeteredModels

# A question with two options; models answer them in English, whatever language a debate has.
QUESTIONS = (
    ("Which is heavier?", "a brick", "a feather"),
    ("Which meal comes first in the day?", "breakfast", "dinner"),
    ("What do fish breathe with?", "gills", "lungs"),
    ("Which is colder?", "ice", "steam"),
    ("Which number is larger?", "71", "17"),
    ("Where is bread sold?", "in a bakery", "in a library"),
    ("What is a hammer for?", "driving in nails", "cutting paper"),
    ("Which animal can fly?", "an eagle", "a horse"),
)
LEAST_STABLE = 6
# As many as a ballot has: a model may think first.
_MOST_TOKENS = 400
_LETTERS = ("A", "B")
_SCHEMA = schema_object(choice={"type": "string", "enum": [*_LETTERS]})
_CHOICE = re.compile(r"\b[AB]\b")

Seat = tuple[str, str]
"""A provider's id and a model."""


class VotingChecks:
    """Checks models on this computer, in its network and of servers at an address of the user's own, each once."""

    def __init__(self, documents: Documents, models: MeteredModels) -> None:
        self._documents = documents
        self._models = models
        self._turn = asyncio.Lock()

    def failed(self, seat: Seat) -> bool:
        """Return whether a model was checked and answered too little alike; asks nobody."""
        return 0 <= self._models.known_facts(*seat).stable < LEAST_STABLE

    def due(self, seats: Iterable[Seat]) -> list[Seat]:
        """Return those of some models that must be checked before they vote or judge."""
        unknown = (one for one in dict.fromkeys(seats) if self._models.known_facts(*one).stable < 0)
        return [one for one in unknown if self._is_checked(one[0])]

    def _is_checked(self, provider_id: str) -> bool:
        config = provider_of(self._documents, provider_id)
        kind = provider_kind(config.kind) if config is not None else None
        return kind is not None and kind.local and kind.form != RequestForm.TRANSCRIPT

    async def ensure(self, seats: Iterable[Seat]) -> None:
        """Check those models that were not checked yet; one that cannot be asked now stays unchecked."""
        async with self._turn:
            for seat in self.due(seats):
                try:
                    await self.run(seat)
                except ProviderError:
                    continue

    async def run(self, seat: Seat) -> int:
        """Check a model and return how many questions it answered alike in both orders. Raises ProviderError."""
        stable = 0
        for question, right, wrong in QUESTIONS:
            first = await self._answer(seat, question, (right, wrong))
            second = await self._answer(seat, question, (wrong, right))
            stable += bool(first) and first == second
        self._models.note_stable(*seat, stable)
        return stable

    async def _answer(self, seat: Seat, question: str, options: tuple[str, str]) -> str:
        """Return the option that a model chooses, "" where that cannot be read."""
        lines = [question, "", *(f"{letter}: {text}" for letter, text in zip(_LETTERS, options, strict=True))]
        lines += ["", 'Answer with the letter of the right option: {"choice": "A"} or {"choice": "B"}.']
        text = "\n".join(lines)
        request = one_message(*seat, text, max_tokens=_MOST_TOKENS, temperature=0.0, schema=_SCHEMA)
        letter = _letter(await self._models.ask(request, used=lambda _: None))
        return options[_LETTERS.index(letter)] if letter else ""


def _letter(answer: str) -> str:
    """Return the letter that an answer names, "" where it names none or both."""
    said = object_in(answer)
    if said is not None:
        answer = str(said.get("choice", ""))
    found = set(_CHOICE.findall(answer))
    return found.pop() if len(found) == 1 else ""
