"""Panels: saved sets of participants, shared as files, and one that assembles itself from what is ready."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from app.core.catalog import EMBEDDED, LOCAL
from app.core.council import ANY_JUDGE, MAX_COUNCIL_ROUNDS, MIN_PARTICIPANTS, NO_JUDGE, Panel, Participant
from app.core.errors import BadInput
from app.core.events import PanelsChanged
from app.core.ids import new_id
from app.core.provider import ProviderStatus
from app.core.session import MIN_ROUNDS
from app.engine.debate.families import family_of
from app.engine.debate.setup import distinct, voice_of
from app.engine.library.definitions import Definitions, LibraryKind
from app.engine.providers import is_here, is_own_server
from app.engine.scores import ENOUGH, Score

# How participants are asked who are no panel.
NO_PANEL = Panel(id="", name="")
SEATS = {1: 3, 2: 2, 3: 3, 4: 3}
# From five families up; with four or more one family is kept free for the judge.
MOST_SEATS = 4

_SHARED = ("name", "participants", "rounds", "judge", "compare", "debates")
PANEL_KIND = LibraryKind(Panel, "panel", attrgetter("panels"), PanelsChanged, _SHARED, "panel_order")


class Panels(Definitions[Panel]):
    """What a user may do with panels; everything raises BadInput, NotFound or StorageError in words."""

    def _checked(self, definition: Panel) -> Panel:
        if len(definition.participants) < MIN_PARTICIPANTS:
            raise BadInput("too_few_participants", count=len(definition.participants), least=MIN_PARTICIPANTS)
        check_rounds(definition.rounds)
        if definition.judge not in (ANY_JUDGE, NO_JUDGE) and "/" not in definition.judge:
            definition = replace(definition, judge=ANY_JUDGE)
        return super()._checked(definition)

    def of(self, participants: Sequence[Participant]) -> Panel | None:
        """Return the panel that has these participants in any order, None where none has."""

        def seats(people: Sequence[Participant]) -> list[tuple[str, str, str]]:
            return sorted((person.provider, person.model, person.name) for person in people)

        return next((panel for panel in self.all() if seats(panel.participants) == seats(participants)), None)


def assembled(statuses: Sequence[ProviderStatus], scores: Mapping[str, Score]) -> tuple[Participant, ...]:
    """Return participants of as many families of models as are ready, those first whose votes came out
    best.
    """
    found: dict[str, list[tuple[float, int, Participant]]] = {}
    for place, status in enumerate(item for item in statuses if item.ready and item.config.kind != EMBEDDED):
        for model in dict.fromkeys((status.default_model, *status.models)):
            score = scores.get(f"{status.config.id}/{model}")
            known = score is not None and score.count >= ENOUGH
            # Who downloaded a model, or serves it, wants to hear it.
            own = status.config.kind == LOCAL or (is_own_server(status) and is_here(status, model))
            if model and (known or own or model == status.default_model):
                called = voice_of(status, model)
                seat = Participant(id=new_id(), name=called, provider=status.config.id, model=model)
                rated = score.after if known and score is not None else 2.0
                found.setdefault(family_of(model), []).append((rated, place, seat))
    best = (sorted(item, key=lambda each: each[:2]) for item in found.values())
    families = sorted(best, key=lambda item: item[0][:2])
    seats = [seat for item in families for _rated, _place, seat in (item if len(families) == 1 else item[:1])]
    taken: list[Participant] = []
    for seat in seats[: SEATS.get(len(families), MOST_SEATS)]:
        taken.append(named_apart(seat, taken))
    return tuple(taken)


def named_apart(seat: Participant, taken: Sequence[Participant]) -> Participant:
    """Return a participant under a name that none of these has."""
    return replace(seat, name=distinct(seat.name, (participant.name for participant in taken)))


def check_rounds(rounds: int) -> None:
    """Raise BadInput if a council cannot debate for so many rounds."""
    if not MIN_ROUNDS <= rounds <= MAX_COUNCIL_ROUNDS:
        raise BadInput("rounds_out_of_range", rounds=rounds, least=MIN_ROUNDS, most=MAX_COUNCIL_ROUNDS)
