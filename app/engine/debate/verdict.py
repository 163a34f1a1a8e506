"""Ballots, verdict and minority report of a debate: what models are asked, and what of it counts.

A point must cite messages that exist: unknown numbers are dropped, and so are texts that are not sentences. The
minority report is as the judge wrote it, else what the secret ballots alone show.
"""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.core.agent import Effort
from app.core.council import Participant, Seat
from app.core.errors import FailureKind, ProviderError
from app.core.files import with_files
from app.core.json_values import as_list, objects_in
from app.core.message import Message
from app.core.provider import ModelRequest, one_message
from app.core.session import Debate
from app.core.texts import clean_text
from app.core.usage import UsageEntry
from app.core.verdict import AGAINST, FOR, Ballot, MinorityView, Point, Verdict
from app.engine.debate.families import all_without_names
from app.engine.debate.perspective import chat_request, defuse, is_said, known_names, notes_sent
from app.engine.debate.replies import (
    LETTERS,
    MOST_OPTION,
    MOST_OPTIONS,
    NEITHER,
    numbers_in,
    one_line,
    read_choice,
    read_object,
    schema_list,
    schema_object,
    without_marks,
)
from app.engine.live_session import LiveSession
from app.engine.names import label_of
from app.engine.prompts import Prompts
from app.engine.turns.metered_models import MeteredModels
from app.engine.voting import SessionChecks

MOST_POINTS = 8
MOST_POINT = 600
MOST_STATEMENT = 6_000
MOST_WITH_FILES = 50_000
MOST_STATEMENTS = 200_000
FIRST_WORDS = 300
MIN_OPTIONS = 2
BALLOT_TOKENS = 400
TOO_SMALL = "too_small"

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_BALLOT = schema_object(stance={"type": "integer", "enum": [*range(AGAINST, FOR + 1)]})
_POINT = schema_object(text=_TEXT, cites=schema_list(_NUMBER))
_PARTS = ("answer", "agreed", "open")
_MINORITY = schema_object(
    text=_TEXT, who=schema_list(_TEXT), now={"type": "boolean"}, cites=schema_list(_NUMBER)
)
_VERDICT = schema_object(
    **{part: schema_list(_POINT) for part in _PARTS},
    minority=schema_list(_MINORITY),
    options=schema_list(_TEXT),
    choice=_NUMBER,
)
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|[-*+>])[ \t]+", re.MULTILINE)
_STANCE = re.compile(r"(?<![\d.])-?[012](?!\d|\.\d)")


@dataclass(frozen=True, slots=True)
class Judge:
    """A model that can judge a debate, and its name."""

    name: str
    provider: str
    model: str

    @property
    def seat(self) -> Seat:
        """Its provider's id and its model."""
        return self.provider, self.model


def round_to_poll(debate: Debate, *, ended: bool = False) -> int | None:
    """Return the round after which a vote is due now (0: before the first), None for none.

    `ended` says that the debate ends here, which may be within a round.
    """
    over = ended or (debate.round > debate.rounds and not debate.due)
    if not debate.polls and not (debate.final_ballots and over):
        return None
    if not ended and (debate.turn or debate.due):
        return None
    done = debate.round if debate.turn else debate.round - 1
    return None if any(ballot.round == done for ballot in debate.ballots) else done


def ballot_request(
    debate: Debate, messages: Sequence[Message], voter: Participant, prompts: Prompts, notes: str = ""
) -> ModelRequest:
    """Return the request for a participant's secret vote after what was said so far, its files as the voter's model takes them."""
    cue = prompts.text(debate.language, "ballot", name=voter.name)
    request = chat_request(debate, messages, voter, debate.round, prompts, cue=cue, notes=notes)
    return replace(request, max_tokens=BALLOT_TOKENS, schema=_BALLOT, effort=Effort.AUTO, temperature=None)


def stance_of(answer: str) -> int | None:
    """Return the vote an answer holds, None where it holds none or more than one."""
    found = {int(one) for one in _STANCE.findall(answer.replace("\u2212", "-"))}
    return found.pop() if len(found) == 1 else None


def verdict_request(
    debate: Debate, messages: Sequence[Message], judge: Judge, prompts: Prompts
) -> ModelRequest:
    """Return the request for a verdict; the statements are numbered from 1, as `statements` lists them.

    It has letters for the names of the participants, and no vote.
    """
    lines = statement_lines(debate, messages, prompts, judge_letters(debate))
    return _judging(debate, messages, lines, judge, prompts)


def again_request(
    debate: Debate, messages: Sequence[Message], judge: Judge, options: Sequence[str], prompts: Prompts
) -> ModelRequest:
    """Return the request for a judge's choice among `options`, whose letters are in their order, when it reads once more.

    The letters of the participants are reversed, and the openings too where they were made unseen; replies stay in time.
    """
    letters, said = judge_letters(debate, again=True), statements(messages)
    if debate.independent_opening:
        first = [one for one in said if one.round == 1 and one.author.kind == "participant"]
        said = [*reversed(first), *(one for one in said if one not in first)]
    shown = zip(LETTERS, all_without_names(options, debate, letters), strict=False)
    text = "\n".join(f"{letter}: {one}" for letter, one in shown)
    lines = statement_lines(debate, said, prompts, letters)
    return _judging(debate, messages, lines, judge, prompts, defuse(text, known_names(debate)), len(options))


def _judging(
    debate: Debate,
    messages: Sequence[Message],
    lines: list[str],
    judge: Judge,
    prompts: Prompts,
    options: str = "",
    count: int = 0,
) -> ModelRequest:
    """Return what a judge is asked about these statements; with a `count` of options, for its choice alone."""
    begun = {one.message for one in debate.what_ifs}
    asked = (debate.topic, *(one.content for one in messages if one.id in begun))
    topic = defuse("\n\n".join(one.strip() for one in asked), known_names(debate))
    parts = {"topic": topic, "statements": "\n\n".join(shortened(lines))}
    parts |= {"options": options} if count else {}
    text = prompts.text(debate.language, "verdict-again" if count else "verdict", **parts)
    choice = {"type": "string", "enum": [*LETTERS[:count], NEITHER]}
    schema = schema_object(choice=choice) if count else _VERDICT
    return one_message(judge.provider, judge.model, text, schema=schema)


def shortened(lines: list[str]) -> list[str]:
    """Return as many statements as a model is sent at once; the middle is left out, as openings and last ones matter most."""
    while len(lines) > 1 and sum(map(len, lines)) > MOST_STATEMENTS:
        del lines[len(lines) // 2]
    return lines


def judge_letters(debate: Debate, *, again: bool = False) -> dict[str, str]:
    """Return the letter under which a judge reads each participant, by id; not in the order of the participants."""
    ids = [one.id for one in debate.participants]
    random.Random(f"{debate.seed}/verdict").shuffle(ids)
    return dict(zip(reversed(ids) if again else ids, LETTERS, strict=False))


def statement_lines(
    debate: Debate, messages: Sequence[Message], prompts: Prompts, letters: Mapping[str, str] | None = None
) -> list[str]:
    """Return the statements as they are read out: each with its number from 1, who made it, and the round.

    With `letters` nothing says who wrote what: these stand for the names of the participants.
    """
    names, words = known_names(debate), prompts.lines(debate.language, "assistant")
    blind = prompts.lines(debate.language, "council-words")["by"] if letters is not None else ""
    said, texts, who = statements(messages), [], []
    for one in said:
        most = MOST_WITH_FILES if one.attachments else MOST_STATEMENT
        texts.append(defuse(with_files(one, words), names)[:most])
        if letters is None or one.author.kind == "user":
            who.append(label_of(one.author))
        else:
            who.append(blind.format(letter=letters.get(one.author.id, "…")))
    if letters is not None:
        texts = [*all_without_names(texts, debate, letters)]
    lines = enumerate(zip(who, said, texts, strict=True), 1)
    return [f"({number}) {by}, {one.round}: {text}" for number, (by, one, text) in lines]


def statements(messages: Sequence[Message]) -> list[Message]:
    """Return what a verdict can cite: every statement that was finished."""
    return [one for one in messages if is_said(one)]


def read_verdict(
    answer: str, debate: Debate, messages: Sequence[Message], judge: Judge, prompts: Prompts
) -> Verdict | None:
    """Return the verdict an answer holds, with names for the letters the judge read; None where it holds none."""
    document = read_object(answer) or {}
    said, named = statements(messages), _with_names(debate, prompts)
    answered, agreed, left = (_points(document.get(part), said, named) for part in _PARTS)
    if not answered:
        return None
    return Verdict(
        judge=judge.name,
        model=f"{judge.provider}/{judge.model}",
        answer=answered,
        agreed=agreed,
        open=left,
        minority=_minority(document.get("minority"), said, named, debate),
    )


def read_options(answer: str, debate: Debate, prompts: Prompts) -> tuple[list[str], str]:
    """Return the options that a verdict chooses among, each once, and the one it comes to; "" for none of them."""
    document, named = read_object(answer) or {}, _with_names(debate, prompts)
    choice = document.get("choice")
    texts = [named(one_line(one, MOST_OPTION)) for one in as_list(document.get("options"))]
    options = list(dict.fromkeys(filter(None, texts)))[:MOST_OPTIONS]
    chosen = texts[choice - 1] if type(choice) is int and 0 < choice <= len(texts) else ""
    return options, chosen if chosen in options else ""


def _with_names(debate: Debate, prompts: Prompts) -> Callable[[str], str]:
    """Return what puts names in the place of the letters that a judge read."""
    names = {one.id: one.name for one in debate.participants}
    by_letter = {letter: names[who] for who, letter in judge_letters(debate).items()}
    by = re.escape(prompts.line(debate.language, "council-words", "by", letter="@")).replace("@", "([A-Z])")
    pattern = re.compile(f"{by}(?![A-Za-z0-9])")
    return lambda text: pattern.sub(lambda found: by_letter.get(found[1], found[0]), text)


def last_words(debate: Debate, messages: Sequence[Message], failure: str) -> Verdict:
    """Return the verdict where no model can judge: each participant's last words."""
    found = []
    for participant in debate.participants:
        own = [one for one in statements(messages) if one.author.id == participant.id]
        if own:
            found.append(Point(text=first_words(own[-1].content), cites=(own[-1].id,)))
    return Verdict(open=tuple(found), failure=failure)


def first_words(text: str) -> str:
    """Return the beginning of a statement in one line, without the marks of Markdown."""
    words = " ".join(without_marks(_LINE_MARKS.sub("", text)).split())
    return words if len(words) <= FIRST_WORDS else words[:FIRST_WORDS].rstrip() + " \u2026"


def _points(given: object, said: Sequence[Message], named: Callable[[str], str]) -> tuple[Point, ...]:
    found = []
    for one in given if isinstance(given, list) else [given]:
        text = one.get("text") if isinstance(one, dict) else one
        cites = one.get("cites") if isinstance(one, dict) else ()
        if isinstance(text, str) and text.strip():
            ids = tuple(said[number - 1].id for number in numbers_in(cites, len(said)))
            found.append(Point(text=named(" ".join(clean_text(text).split()))[:MOST_POINT], cites=ids))
    return tuple(found[:MOST_POINTS])


def _minority(
    given: object, said: Sequence[Message], named: Callable[[str], str], debate: Debate
) -> tuple[MinorityView, ...]:
    """Return the views that somebody holds or gave up; one that names nobody who takes part is nobody's."""
    people = judge_letters(debate)
    found = []
    for one in objects_in(given):
        points = _points([one], said, named)
        who = {one_line(each)[-1:].upper() for each in as_list(one.get("who"))}
        holders = tuple(each.id for each in debate.participants if people.get(each.id) in who)
        if points and holders:
            now = one.get("now") is not False
            found.append(MinorityView(text=points[0].text, holders=holders, now=now, cites=points[0].cites))
    return tuple(sorted(found[:MOST_POINTS], key=lambda view: not view.now))


async def poll(
    live: LiveSession,
    round_number: int,
    voters: Sequence[Participant],
    checks: SessionChecks,
    models: MeteredModels,
    prompts: Prompts,
    given: Callable[[Debate, Sequence[Message], Participant], tuple[Debate, list[Message]]],
) -> tuple[Ballot, ...]:
    """Ask all participants for their votes at once, and return the ballots; one that cannot be had is empty.

    A voter is asked once `checks` has found that it may vote.
    `given` returns the debate and what was said with the files as a participant's model takes them.

    Raises ProviderError where the month's limit forbids the calls: then no vote counts.
    """
    debate, messages = live.debate_session.debate, list(live.messages)
    used: dict[str, UsageEntry] = {}

    async def vote(voter: Participant) -> Ballot:
        ballot = Ballot(participant=voter.id, round=round_number)
        if voter not in voters or not await checks.may_vote(voter.seat):
            return ballot
        request = ballot_request(*given(debate, messages, voter), voter, prompts, notes_sent(live))
        try:
            stance = stance_of(await models.ask(request, live.id, used=partial(used.__setitem__, voter.id)))
        except ProviderError as error:
            if error.kind == FailureKind.BUDGET_MONTH:
                raise
            stance = None
        return replace(ballot, stance=stance, usage=used.get(voter.id))

    votes: list[Ballot | BaseException] = []
    try:
        votes += await asyncio.gather(*(vote(one) for one in debate.participants), return_exceptions=True)
    finally:
        ballots = [one for one in votes if isinstance(one, Ballot)]
        if len(ballots) < len(debate.participants):
            # The votes of this round are taken again; these were paid for as well.
            live.note_unsaid(*used.values())
    for one in votes:
        if isinstance(one, BaseException):
            raise one
    return tuple(ballots)


async def judged(
    live: LiveSession,
    messages: Sequence[Message],
    judges: Sequence[Judge],
    models: MeteredModels,
    prompts: Prompts,
    checks: SessionChecks,
) -> Verdict:
    """Return the verdict of the first judge that gives one; otherwise all participants' last words.

    A judge is asked once `checks` has found that it may judge.
    Raises ProviderError where the month's limit forbids the call.
    """
    debate, failure = live.debate_session.debate, TOO_SMALL
    for judge in judges:
        if not await checks.may_vote(judge.seat):
            continue
        verdict, used = None, list[UsageEntry]()
        ask = partial(models.ask, session_id=live.id, used=used.append)
        again = partial(again_request, debate, messages, judge, prompts=prompts)
        try:
            answer = await ask(verdict_request(debate, messages, judge, prompts))
            read = read_verdict(answer, debate, messages, judge, prompts)
            failure = FailureKind.UNREADABLE
            if read is not None:
                verdict = await _read_again(read, *read_options(answer, debate, prompts), again, ask)
        except ProviderError as error:
            if error.kind == FailureKind.BUDGET_MONTH:
                raise
            failure = error.kind
        finally:
            # A verdict has the usage of its first reading.
            live.note_unsaid(*used[verdict is not None :])
        if verdict is not None:
            return replace(verdict, usage=used[0] if used else None)
    return last_words(debate, messages, failure)


def keep_verdict(live: LiveSession, verdict: Verdict, **fields: object) -> None:
    """Keep a verdict as the newest of a debate, and change fields of the session; those that a model gave before stay."""
    session = live.debate_session
    before, said = session.debate.verdict, live.said
    kept = session.debate.earlier_verdicts
    if before is not None and before.judge:
        kept = (*kept, replace(before, usage=None))
    if before is not None and before.usage is not None:
        fields["unsaid"] = (*session.unsaid, before.usage)
    verdict = replace(verdict, after_message=said[-1].id if said else "")
    live.change(debate=replace(session.debate, verdict=verdict, earlier_verdicts=kept), **fields)


async def _read_again(
    verdict: Verdict,
    options: Sequence[str],
    chosen: str,
    again: Callable[[Sequence[str]], ModelRequest],
    ask: Callable[[ModelRequest], Awaitable[str]],
) -> Verdict:
    """Return a verdict with whether its judge comes to the same in another order; as it was where it cannot be asked that."""
    if len(options) < MIN_OPTIONS:
        return verdict
    shown = [*reversed(options)]
    try:
        answer = await ask(again(shown))
    except ProviderError:
        return verdict
    neither = one_line((read_object(answer) or {}).get("choice")).casefold() == NEITHER
    choice = "" if neither else read_choice(answer, [*zip(shown, shown, strict=True)])
    if not neither and choice not in options:
        return verdict
    unstable = choice != chosen
    return replace(verdict, readings=2, unstable=unstable, otherwise=choice if unstable else "")


def readings_points(verdict: Verdict, words: Callable[..., str]) -> tuple[Point, ...]:
    """Return the sentence that says how stable a verdict is, none where no model gave one; `words` gives a text by its key."""
    if not verdict.judge:
        return ()
    if verdict.readings == 1:
        return (Point(text=words("verdict.once")),)
    if not verdict.unstable:
        return (Point(text=words("verdict.stable")),)
    return (Point(text=words("verdict.unstable", option=verdict.otherwise or words("verdict.neither"))),)


def minority_points(
    debate: Debate, messages: Sequence[Message], words: Callable[..., str]
) -> tuple[Point, ...]:
    """Return each view beside what leads, with who holds it or gave it up; `words` gives a text by its key."""
    views = (debate.verdict.minority if debate.verdict is not None else ()) or _voted(debate, messages, words)
    return tuple(Point(text=held_by(one, debate, one.text, words), cites=one.cites) for one in views)


def held_by(view: MinorityView, debate: Debate, option: str, words: Callable[..., str]) -> str:
    """Return who holds an option beside what leads, or gave it up."""
    names = {one.id: one.name for one in debate.participants}
    who = ", ".join(names[one] for one in view.holders if one in names)
    return words("council.holds_now" if view.now else "council.given_up", names=who, option=option)


def _voted(
    debate: Debate, messages: Sequence[Message], words: Callable[..., str]
) -> tuple[MinorityView, ...]:
    """Return the sides on which fewest stand by the last ballots, then those that all have left; at a tie both lead.

    The text is the side, and the last words of who holds it most firmly; of one that was left, the first.
    """
    votes: dict[int, dict[str, int]] = {
        number: {} for number in sorted({one.round for one in debate.ballots})
    }
    for one in debate.ballots:
        if one.stance is not None:
            votes[one.round][one.participant] = one.stance
    *before, last = votes.values() or [{}]
    counts = Counter(map(_side, last.values()))

    def view(side: int, cast: dict[str, int], *, now: bool) -> MinorityView:
        order = [one.id for one in debate.participants]
        holders = tuple(one for one in order if one in cast and _side(cast[one]) == side)
        firmest = max(holders, key=lambda who: abs(cast[who]))
        said = [one for one in statements(messages) if one.author.id == firmest]
        shown = said[-1 if now else 0 :][:1]
        stand = words(f"verdict.stance.{side * FOR}")
        text = ". ".join([stand, *(first_words(one.content) for one in shown)])
        return MinorityView(text=text, holders=holders, now=now, cites=tuple(one.id for one in shown))

    fewer = [side for side, count in counts.most_common() if count < max(counts.values())]
    views = [view(side, last, now=True) for side in fewer]
    # Who was unsure at first has given up no view.
    left = dict.fromkeys(_side(stance) for cast in before for stance in cast.values() if stance and last)
    for side in (one for one in left if one not in counts):
        first = next(cast for cast in before if side in map(_side, cast.values()))
        views.append(view(side, first, now=False))
    return tuple(views)


def _side(stance: int) -> int:
    """Return 1 for the motion, -1 against it, 0 for neither."""
    return (stance > 0) - (stance < 0)


def outcome_parts(
    debate: Debate, messages: Sequence[Message], words: Callable[..., str]
) -> list[tuple[str, list[Point]]]:
    """Return the verdict and the minority report in parts, each with its heading and its sentences."""
    verdict = debate.verdict or Verdict()
    key = "verdict.judged_by_participant" if debate.judged_inside else "verdict.judged_by"
    left = "verdict.open" if verdict.judge else "verdict.last_statements"
    parts = (
        (words(key, name=verdict.judge), (*verdict.answer, *readings_points(verdict, words))),
        (words("council.minority_report"), minority_points(debate, messages, words)),
        (words("verdict.agreed"), verdict.agreed),
        (words(left), verdict.open),
    )
    return [(heading, [*points]) for heading, points in parts if points]
