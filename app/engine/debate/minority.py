"""The minority report of a debate: as its judge wrote it, else what the secret ballots alone show."""

from collections import Counter
from collections.abc import Callable, Sequence

from app.core.message import Message
from app.core.session import Debate
from app.core.verdict import FOR, Ballot, MinorityView, Point
from app.engine.debate.verdict import first_words, statements


def minority_points(
    debate: Debate, messages: Sequence[Message], words: Callable[..., str]
) -> tuple[Point, ...]:
    """Return each view beside what leads, with who holds it or gave it up; `words` gives a text by its key."""
    names = {one.id: one.name for one in debate.participants}
    views = (debate.verdict.minority if debate.verdict is not None else ()) or _voted(debate, messages, words)
    return tuple(
        Point(
            text=words(
                "council.holds_now" if view.now else "council.given_up",
                names=", ".join(names[one] for one in view.holders if one in names),
                option=view.text,
            ),
            cites=view.cites,
        )
        for view in views
    )


def _voted(
    debate: Debate, messages: Sequence[Message], words: Callable[..., str]
) -> tuple[MinorityView, ...]:
    """Return the sides on which fewest stand by the last ballots, then those that all have left; at a tie both lead.

    The text is the side, and the last words of who holds it most firmly; of one that was left, the first.
    """
    rounds = sorted({one.round for one in debate.ballots})
    votes = [
        {one.participant: one for one in debate.ballots if one.round == each and one.stance is not None}
        for each in rounds
    ]
    if not votes or not votes[-1]:
        return ()
    counts = Counter(map(_side, votes[-1].values()))
    most = max(counts.values())
    views = []
    for side in sorted((one for one in counts if counts[one] < most), key=lambda one: -counts[one]):
        views.append(_view(debate, messages, words, side, votes[-1], now=True))
    left = dict.fromkeys(_side(one) for cast in votes[:-1] for one in cast.values())
    # Who was unsure at first has given up no view.
    for side in (one for one in left if one and one not in counts):
        first = next(cast for cast in votes if side in map(_side, cast.values()))
        views.append(_view(debate, messages, words, side, first, now=False))
    return tuple(views)


def _view(
    debate: Debate,
    messages: Sequence[Message],
    words: Callable[..., str],
    side: int,
    cast: dict[str, Ballot],
    *,
    now: bool,
) -> MinorityView:
    order = [one.id for one in debate.participants]
    holders = tuple(one for one in order if one in cast and _side(cast[one]) == side)
    firmest = max(holders, key=lambda one: abs(cast[one].stance or 0))
    said = [one for one in statements(messages) if one.author.id == firmest]
    shown = said[-1 if now else 0 :][:1]
    stand = words(f"verdict.stance.{side * FOR}")
    text = ". ".join([stand, *(first_words(one.content) for one in shown)])
    return MinorityView(text=text, holders=holders, now=now, cites=tuple(one.id for one in shown))


def _side(ballot: Ballot) -> int:
    """Return 1 for the motion, -1 against it, 0 for neither."""
    stance = ballot.stance or 0
    return (stance > 0) - (stance < 0)
