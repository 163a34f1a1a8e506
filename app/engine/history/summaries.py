"""What a summary stands for: which one a speaker gets, where to cut, and an extract where no model writes one; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.core.message import Message, MessageState, Role, SummaryNote
from app.core.model_facts import ModelFacts
from app.core.session import Chat
from app.core.settings import HistoryLength, Settings
from app.core.texts import Texts, visible
from app.engine.history.token_count import tokens_of
from app.engine.live_session import LiveSession

# The kind of the author of a debate's running notes.
NOTES = "notes"

# Tokens of a conversation that are sent before it is summarised.
SOFT_LIMITS = {HistoryLength.THRIFTY: 24_000, HistoryLength.DEFAULT: 64_000}
# Of a window, what a request may fill; the rest is for what counting gets wrong.
_FILLED = 0.9
_MOST_RESERVED = 32_000
_USUAL_OUTPUT = 4_096

# What stays as it was said behind a summary: so much of the limit, and never more.
_KEPT = 0.25
_MOST_KEPT = 10_000
# A summary is worth its cost only where it stands for much of the limit, and is much shorter than what it stands for.
LEAST_REPLACED = 0.2
LEAST_TOKENS = 500
MOST_LEFT = 0.6

# What is quoted of the user, in tokens and at most a part of the limit, and how an extract shortens messages, in characters.
QUOTED = 4_000
QUOTED_SHARE = 16
_FIRST, _LATER, _LAST_ANSWER = 2_000, 200, 400


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn as it is sent: its id, its tokens, whether it is the user's, and its messages."""

    turn_id: str
    tokens: int
    by_user: bool
    messages: Sequence[Message]


def reserve_of(facts: ModelFacts) -> int:
    """Return how many tokens of a window are kept free for the answer."""
    return min(facts.most_output or _USUAL_OUTPUT, _MOST_RESERVED, facts.window // 4)


def fits(facts: ModelFacts) -> int:
    """Return how many tokens a request to a model may have."""
    return int(_FILLED * facts.window) - reserve_of(facts)


def limit_for(facts: ModelFacts, chat: Chat | None, settings: Settings) -> int:
    """Return how many tokens a request to a model may have before it is made shorter, in a chat or (None) elsewhere.

    One that is longer than the tier of the model's prices would cost more.
    """
    room = fits(facts)
    wanted = SOFT_LIMITS.get(HistoryLength((chat and chat.history) or settings.history), room)
    tier = facts.prices.tier if facts.prices else 0
    return min(room, wanted, tier or room)


def summary_for(live: LiveSession, path: Iterable[str], agent_id: str) -> Message | None:
    """Return the summary that a speaker gets of a path of turns, newest first: the one that stands for most of them.

    Of several of the same turns its own comes first, then the newest.
    """
    for turn_id in path:
        usable = [
            one
            for one in usable_summaries(live, turn_id)
            if not one.through_message and one.agent_id in ("", agent_id)
        ]
        if usable:
            return max(usable, key=lambda one: (bool(one.agent_id), one.id))
    return None


def is_usable(live: LiveSession, summary: Message) -> bool:
    """Whether a summary is whole and the user has not put it aside."""
    whole = summary.state == MessageState.DONE and bool(summary.content.strip())
    return whole and summary.id not in live.session.unused_summaries


def usable_summaries(live: LiveSession, turn_id: str) -> list[Message]:
    """Return the summaries of all up to a turn or of its beginning that can be used, the oldest first."""
    return [one for one in live.turns.summaries(turn_id) if is_usable(live, one)]


def turns_to_replace(turns: Sequence[PastTurn], limit: int, most: int | None = None) -> int:
    """Return how many of the oldest turns a summary is to stand for, 0 for none.

    The newest turns stay, up to a quarter of the limit and one at least, and with them the user's newest message and all after it unless
    that alone is most of the limit. At most `most` tokens are replaced, where given.
    """
    kept = min(int(_KEPT * limit), _MOST_KEPT)
    sums = list(accumulate(turn.tokens for turn in reversed(turns)))
    place = len(turns) - max(1, sum(total <= kept for total in sums))
    asked = max((at for at, turn in enumerate(turns) if turn.by_user), default=0)
    if place > asked and sums[len(turns) - 1 - asked] <= MOST_LEFT * limit:
        place = asked
    place = next((at for at in range(place, asked + 1) if turns[at].by_user), place)
    if most is not None:
        fitting = sum(total <= most for total in accumulate(turn.tokens for turn in turns))
        place = min(place, max(1, fitting)) if place else 0
    elif sum(turn.tokens for turn in turns[:place]) < max(LEAST_TOKENS, LEAST_REPLACED * limit):
        return 0
    return place


def quotes(messages: Sequence[Message], limit: int) -> list[str]:
    """Return what the user said, word for word: the newest messages, as many as a summary may quote below a limit."""
    most = min(QUOTED, limit // QUOTED_SHARE)
    found: list[str] = []
    for message in reversed(messages):
        text = message.content.strip()
        if not message.by_user or not text:
            continue
        most -= tokens_of(text)
        if most < 0:
            break
        found.insert(0, text)
    return found


def extract(messages: Sequence[Message], before: str, heading: str) -> str:
    """Return a summary made without a model: the user's messages and each speaker's last answer, shortened.

    `before` is the summary of what came earlier, `heading` is the line above what the user said.
    """
    said = [one.content.strip() for one in messages if one.by_user and one.content.strip()]
    cut = [_cut(text, _LATER if place or before else _FIRST) for place, text in enumerate(said)]
    while len(cut) > 2 and sum(map(tokens_of, cut)) > QUOTED:
        # The first message says what it is about, and the newest count most.
        del cut[1]
    last = {
        one.author.name: one.content.strip()
        for one in messages
        if one.role == Role.ASSISTANT and one.state == MessageState.DONE and one.content.strip()
    }
    parts = [_cut(before, 4 * _FIRST)] if before else []
    parts += ["\n".join((heading, *(f"- {text}" for text in cut)))] if cut else []
    parts += [f"[{name}]: {_cut(text, _LAST_ANSWER)}" for name, text in last.items()]
    return "\n\n".join(parts)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rstrip() + " …"


def summary_line(summary: Message, texts: Texts) -> str:
    """Return in one line that a summary stands here, and how many tokens it has in place of how many."""
    after = tokens_of(summary.content, summary.model)
    key = "summary.pruned" if summary.note == SummaryNote.PRUNED else "summary.here"
    key = "summary.notes" if summary.author.kind == NOTES else key
    key = "summary.own" if summary.agent_id and not summary.through_message else key
    return texts(
        key, name=visible(summary.author.name), before=f"{summary.replaces or 0:,}", after=f"{after:,}"
    )
