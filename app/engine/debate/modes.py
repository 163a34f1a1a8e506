"""The modes of debates and the roles, who speaks next in a free discussion, and the motion
that a question asks about.

A new mode is a name in `DebateMode` (core/session.py), a row in `MODES`, its texts `mode.NAME`,
`mode.NAME.hint` and `cli.help.mode` in resources/i18n, and in resources/prompts a prompt and the line
`mode.NAME` of export.txt. The set-up and the command line list `CLASSIC_MODES`, all modes but the council.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from hashlib import blake2b
from itertools import cycle, pairwise

from app.core.catalog import RequestForm, provider_kind
from app.core.council import Participant
from app.core.frozen import Frozen
from app.core.message import Message, MessageState
from app.core.session import Debate, DebateMode
from app.engine.names import addressed, mentioned
from app.engine.prompts import Prompts
from app.engine.request import length_words

# Who speaks next, and the code of why.
Chosen = tuple[Participant, str]
SpeakerRule = Callable[[Debate, tuple[Participant, ...], list[Message]], Chosen]


_DRAWS = 5


class Why(StrEnum):
    """Why it is a participant's turn; each has a text `why.<code>`."""

    IN_ORDER = "in_order"
    RETAKEN = "retaken"
    ASKED_BY_USER = "asked_by_user"
    ONLY_ONE = "only_one"
    LONGEST_SILENT = "longest_silent"
    ADDRESSED = "addressed"
    MENTIONED = "mentioned"
    OPEN_FLOOR = "open_floor"


def bound(count: int) -> int:
    """Return after how many turns of others a participant speaks at the latest."""
    return max(2 * (count - 1), count)


def next_speaker(debate: Debate, present: tuple[Participant, ...], messages: Sequence[Message]) -> Chosen:
    """Return who speaks next and the code of the rule that chose them; `present` is not empty.

    The last speaker chooses the next by addressing them; otherwise whoever has waited longest or was named is
    likelier. No participant waits longer than `bound(n)` turns, and two cannot keep the floor to themselves.
    Pure.
    """
    floor = _Floor(debate, present, messages)
    if (asked := floor.asked_by_user()) is not None:
        return asked, Why.ASKED_BY_USER
    if len(floor.eligible) == 1:
        return floor.eligible[0], Why.ONLY_ONE
    if (starving := floor.starving()) is not None:
        return starving, Why.LONGEST_SILENT
    if (chosen := floor.addressed()) is not None:
        return chosen, Why.ADDRESSED
    return floor.most_eager()


class _Floor:
    """What was said in a free discussion so far, who may speak now, and how long each has waited."""

    def __init__(self, debate: Debate, present: tuple[Participant, ...], messages: Sequence[Message]) -> None:
        self._debate, self._present = debate, present
        self._heard = [message for message in messages if message.ended]
        self._turns = [message for message in self._heard if message.author.kind != "user"]
        self._speakers = [message.author.id for message in self._turns]
        self.eligible = [participant for participant in present if participant.id not in self._speakers[-1:]]
        # How many turns others took since each spoke, since the start for who never did.
        before = self._speakers[::-1]
        self._waits = {who.id: before.index(who.id) if who.id in before else len(before) for who in present}
        last = self._heard[-1] if self._heard else None
        self._last = last if last is not None and last.state == MessageState.DONE else None

    def asked_by_user(self) -> Participant | None:
        """Return the participants the user addressed since the last turn, the latest first."""
        for message in reversed(self._heard):
            if message.author.kind != "user":
                return None
            if names := addressed(message.content, self._present):
                return self._by_id(names[-1])
        return None

    def starving(self) -> Participant | None:
        """Earliest deadline first: return the longest silent participant if one
        of the silent would otherwise be late.
        """
        silent, limit = sorted(self.eligible, key=lambda who: -self._waits[who.id]), bound(len(self._present))
        late = any(self._waits[item.id] + place > limit for place, item in enumerate(silent, start=1))
        return silent[0] if late else None

    def addressed(self) -> Participant | None:
        """Return whom the last speaker addressed, None where two have the floor to themselves or did
        so twice lately.
        """
        last, allowed = self._last, {participant.id for participant in self.eligible}
        if last is None:
            return None
        others = [item for item in self._debate.participants if item.id != last.author.id]
        names = [item for item in addressed(last.content, others) if item in allowed]
        if not names or (self._ping_pong() and names[-1] == self._speakers[-2]):
            return None
        lately = pairwise(self._turns[-2 * len(self._present) :])
        called = ((before, after) for before, after in lately if after.why == Why.ADDRESSED)
        fired = [(before.author.id, after.author.id) for before, after in called]
        return None if fired.count((last.author.id, names[-1])) >= 2 else self._by_id(names[-1])

    def most_eager(self) -> Chosen:
        """Choose by mentions, by silence, by little speech, and by a draw that depends on the seed alone."""
        speakers, span = self._speakers, 2 * len(self._present)
        places = {participant.id: place for place, participant in enumerate(self._debate.participants)}
        named = mentioned(self._last.content, self.eligible) if self._last else set()
        if self._ping_pong():
            named -= set(speakers[-2:])

        def eagerness(one: Participant) -> tuple[int, int, int]:
            # By place: the participants' ids differ in every debate.
            draw, wait = _draw(self._debate.seed, len(speakers), places[one.id]), self._waits[one.id]
            often = max(0, speakers[-span:].count(one.id) - 2)
            return 2 * (one.id in named) + min(wait, span) - 3 * often + draw % _DRAWS, wait, draw

        chosen = max(self.eligible, key=eagerness)
        return chosen, Why.MENTIONED if chosen.id in named else Why.OPEN_FLOOR

    def _ping_pong(self) -> bool:
        """Whether the last four turns went A B A B although others are there."""
        last = self._speakers[-4:]
        return len(self._present) > 2 and len(last) == 4 and last[:2] == last[2:] and last[0] != last[1]

    def _by_id(self, participant_id: str) -> Participant:
        return next(participant for participant in self._present if participant.id == participant_id)


def _draw(seed: int, turn: int, place: int) -> int:
    """Return a number that looks random and is the same on every machine and run."""
    return int.from_bytes(blake2b(f"{seed}|{turn}|{place}".encode(), digest_size=8).digest(), "big")


class ModeRules(Frozen, kw_only=False):
    """A mode: its name, its prompt file, and who speaks.

    With no `speaker_rule` the participants speak in the order of the set-up.
    """

    mode: str
    prompt: str
    speaker_rule: SpeakerRule | None = None
    may_pass: bool = False


MODES: tuple[ModeRules, ...] = (
    ModeRules(mode=DebateMode.ROUND_ROBIN, prompt="mode-round-robin"),
    ModeRules(mode=DebateMode.FREE, prompt="mode-free", speaker_rule=next_speaker, may_pass=True),
    ModeRules(mode=DebateMode.ROLES, prompt="mode-roles"),
)


def mode_of(name: str) -> ModeRules:
    """Return the row of a mode; raises KeyError for one this version does not know."""
    return {row.mode: row for row in MODES}[name]


class DebateRole(StrEnum):
    """The roles that come with Moot; a user's own is any other text."""

    FOR = "for"
    AGAINST = "against"
    NEUTRAL = "neutral"
    OPTIMIST = "optimist"
    REALIST = "realist"
    DEVILS_ADVOCATE = "devils-advocate"


ROLES: tuple[str, ...] = tuple(DebateRole)
SIDES: tuple[str, ...] = (DebateRole.FOR, DebateRole.AGAINST)


def form_of(kind: str) -> str:
    """Return how a debate is put to the models of a provider kind: as chat turns or one transcript."""
    row = provider_kind(kind)
    return row.form if row else RequestForm.CHAT


def with_sides(participants: Sequence[Participant], kinds: Sequence[str]) -> tuple[Participant, ...]:
    """Give sides in turn to the participants of a small model that have no role.

    Such a model agrees with whatever it read last; a side makes its participants differ.
    """
    sides = cycle(SIDES)
    return tuple(
        replace(item, role=next(sides)) if not item.role and form_of(kind) == RequestForm.TRANSCRIPT else item
        for item, kind in zip(participants, kinds, strict=True)
    )


def system_prompt(debate: Debate, speaker: Participant, prompts: Prompts) -> str:
    """Return a participant's system prompt; the user's own text replaces the generated one."""
    if speaker.system_prompt.strip():
        return speaker.system_prompt
    language, count = debate.language, len(debate.participants)
    roster = ", ".join(_in_roster(item, speaker, language, prompts) for item in debate.participants)
    parts = [prompts.text(language, "participant", name=speaker.name, count=count, roster=roster)]
    if speaker.persona.strip():
        parts.append(prompts.text(language, "persona", text=speaker.persona.strip()))
    if debate.instructions:
        parts.append(prompts.line(language, "assistant", "folder", text=debate.instructions))
    parts.append(prompts.text(language, mode_of(debate.mode).prompt))
    if speaker.role:
        parts.append(role_text(speaker.role, language, prompts))
    parts += length_words(speaker.length, prompts.lines(language, "assistant"))
    parts.append(prompts.text(language, "rules", name=speaker.name))
    return "\n\n".join(parts)


def role_text(role: str, language: str, prompts: Prompts) -> str:
    """Return what a role asks of its holder."""
    if role in ROLES:
        return prompts.line(language, "roles", role)
    return prompts.line(language, "roles", "own", role=" ".join(role.split()))


def role_name(role: str, language: str, prompts: Prompts) -> str:
    """Return the name of a role: the label of a built-in one, else the user's words."""
    return prompts.line(language, "roles", f"{role}.name") if role in ROLES else " ".join(role.split())


def _in_roster(participant: Participant, speaker: Participant, language: str, prompts: Prompts) -> str:
    role = f"({role_name(participant.role, language, prompts)})" if participant.role else ""
    you = prompts.line(language, "roles", "you") if participant.id == speaker.id else ""
    return " ".join(filter(None, (participant.name, role, you)))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOST_QUESTION = 300
# None of these is also a noun, so that what stands before the first of them is the subject.
_VERBS = _words(
    "be have do get become remain adopt abolish accept allow apply avoid begin build buy choose consider "
    "continue create decide disclose eat encourage ensure expand forbid give hire invest join keep learn "
    "legalise legalize let lower make migrate move pay permit prevent prohibit protect provide publish "
    "raise reduce refuse regulate remove replace require rewrite sell send spend subsidise subsidize "
    "switch take teach tell use write"
)
# These are nouns as well: verbs only behind a subject that leaves no doubt.
_VERBS_OR_NOUNS = _words(
    "ban charge cost cut drop end fund hold increase limit offer own plan open park pass rank rent stay go "
    "stop study support tax test train treat trust vote work"
)
_PRONOUNS = _words("i we you they he she it everyone everybody people nobody somebody anyone")
_LEADING = _words("the our all every most public private a an my your their no")
_ACTORS = _words("government state company parliament president school city country team council")
# Plural words that stand before a noun: "sales tax".
_MODIFIERS = _words("sales sports savings arms customs news goods earnings systems operations plus thus gas")
# Behind these a verb or an adjective belongs to a part of the subject.
_LINKS = _words(
    "of in on at for from with without under over above below who that which and or between to by during "
    "before after about not than when if why what how"
)
_IS = re.compile(
    r"(?P<verb>is|are) (?P<subject>[^?,]+?) (?P<rest>(?:better|worse|good|bad|safe|dangerous|worth|necessary|"
    r"possible|ethical|wrong|fair|unfair|harmful|helpful|useful|"
    r"useless)(?: (?:than|for|to|in|at|if|when|enough|it)\b[^?]*)?)\?",
    re.IGNORECASE,
)
_KOREAN_QUESTION = re.compile(
    r"무엇|무슨|뭐|뭘|왜|언제|누가|누구|어디|어느|어떤|어떻|얼마|몇|아니면|또는|혹은|중에|나 |까[,?] "
)
_KOREAN_ENDS = (
    (
        re.compile(
            r"(?P<said>[^?]*[은는이가도을를로] [^?]*[가-힣]야) (?:할까|하나|하는가|합니까|될까|되나)요?\?"
        ),
        " 한다.",
    ),
    (re.compile(r"(?P<said>[^?]*[은는이가도] [^?]*적)(?:인가|일까|입니까)요?\?"), "이다."),
)


def motion_of(topic: str) -> str:
    """Return the motion a yes-or-no question asks about; any other text as it is, on one line.

    It is "Cities should ban cars." for "Should cities ban cars?". A question whose subject is not certain
    stays as it is: a question is better than a sentence that says something else.
    """
    topic = " ".join(topic.split())
    return _should(topic) or _is(topic) or _korean(topic) or topic


def asks_about_motion(question: str) -> bool:
    """Whether a question certainly asks whether a motion holds, so that it is answered for or against."""
    return len(question) <= MOST_QUESTION and motion_of(question) != " ".join(question.split())


def yes_and_no(question: str) -> tuple[str, str]:
    """Return the words for yes and no in the language of a question."""
    return ("예", "아니요") if re.search("[가-힣]", question) else ("Yes", "No")


_SIDES = re.compile(
    r"(?P<yes>yes|네|예|찬성|그렇다|그렇습니다)|(?P<no>no|아니요|아니오|아니다|아닙니다|반대)", re.IGNORECASE
)


def side_of(answer: str) -> tuple[str, str]:
    """Return the side that an answer begins with, yes or no, and the word that says so; two empty texts
    for neither.

    One that says what it depends on is no side, also behind a "yes".
    """
    found = _SIDES.match(answer)
    rest = answer[found.end() :] if found else ""
    if found is None or rest[:1].isalnum() or _DEPENDS.search(rest):
        return "", ""
    return str(found.lastgroup), found[0]


# "Yes and no" and "No one knows" take no side either.
_DEPENDS = re.compile(
    r"\b(?:if|unless|only|but|except|provided|depends)\b|경우|조건|다만|단,|지만|에 따라"
    r"|^\s+(?:and no|one|clear|simple|single|easy|idea|opinion|position)\b",
    re.IGNORECASE,
)


def _should(topic: str) -> str:
    words = topic.removesuffix("?").split()
    if not topic.endswith("?") or len(words) < 3 or words[0].lower() != "should" or "?" in topic[:-1]:
        return ""
    lower = [word.lower() for word in words]
    if "or" in lower:
        return ""
    place = 2 if lower[1] in _PRONOUNS and lower[2] not in _LINKS else _verb(lower)
    if place is None:
        return ""
    return _sentence(" ".join([*words[1:place], "should", *words[place:]]) + ".")


def _verb(words: list[str]) -> int | None:
    """Return the place of the verb behind "should", None where it is not certain."""
    for place, word in enumerate(words):
        subject = words[1:place]
        if word in _LINKS or "," in word:
            return None
        if not subject or subject[-1] in _LEADING:
            continue
        if word in _VERBS or (word in _VERBS_OR_NOUNS and _leaves_no_doubt(subject)):
            return place
        if word in _VERBS_OR_NOUNS:
            return None
    return None


def _leaves_no_doubt(subject: list[str]) -> bool:
    last = subject[-1]
    plural = last.endswith("s") and not last.endswith(("ss", "us", "is")) and last not in _MODIFIERS
    return plural or (subject[0] in _LEADING and len(subject) == 2 and last in _ACTORS)


def _is(topic: str) -> str:
    found = _IS.fullmatch(topic)
    if found is None:
        return ""
    subject = found["subject"].lower().split()
    if not _LINKS.isdisjoint(subject) or subject[-1] in _LEADING or subject[0] in ("there", "it", "this"):
        return ""
    return _sentence(f"{found['subject']} {found['verb'].lower()} {found['rest']}.")


def _korean(topic: str) -> str:
    """Return the statement: the order of its words stays, so that only alternatives
    and open questions are in doubt.
    """
    if _KOREAN_QUESTION.search(topic):
        return ""
    for pattern, end in _KOREAN_ENDS:
        if found := pattern.fullmatch(topic):
            return found["said"] + end
    return ""


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
