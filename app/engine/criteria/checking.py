"""Checks of criteria: what a checker is asked, what is read in its answer, and where its quotations are.

The checker's word counts for little. It must quote what shows that a criterion is met, Moot must find those
words in the work, and among the criteria is one that nothing can meet: a checker that calls it met, or leaves
it out, said what it was told to and not what it read.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from app.core import criteria as core_criteria
from app.core.council import Seat
from app.core.criteria import CRITERIA, Checker, Criterion, CriterionState, Doubt, PlanItem, shown_by, unknown
from app.core.errors import MootError
from app.core.events import CriterionChecked, Event, UsageReported
from app.core.frozen import Frozen
from app.core.json_values import objects_in, read_object, schema_list, schema_object
from app.core.message import Author, Message, MessageState, Role, new_message
from app.core.provider import ModelRequest, last_part, one_message
from app.core.session import Reason, Session, Status
from app.core.session_files import is_usual
from app.core.store import SessionFiles
from app.engine.history import fits
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.turns.context import TreeContext
from app.engine.turns.reply import ReplyCleaner
from app.engine.turns.speaker_turn import CallPlan, SpeakerTurn

# Who tells the worker what is not met.
MOOT = Author(id=CRITERIA, name="Moot", kind="orchestrator", path=(CRITERIA,))

Criteria = tuple[Criterion, ...]

# How often criteria are checked: work goes back twice at most.
MOST_ROUNDS = 3

# Characters of the work that a checker reads, of what it says of a criterion, and of a quotation.
MOST_WORK = 100_000
MOST_SAID = 300
MOST_QUOTE = 1_000
# Of a quotation: fewer letters and digits are in any text.
LEAST_QUOTE = 2

_TEXT = {"type": "string"}
_VERDICT = {"type": "string", "enum": [CriterionState.MET, CriterionState.UNMET]}
_CRITERION = schema_object(number={"type": "integer"}, verdict=_VERDICT, quote=_TEXT, why=_TEXT)
_VERDICTS = schema_object(criteria=schema_list(_CRITERION))


class WorkPart(Frozen):
    """A part of the work: the text of a message, or of a file."""

    text: str
    message_id: str = ""
    file: str = ""


class Check(Frozen, kw_only=False):
    """What is checked: criteria, after what was asked, in what these turns made; `number` is the round,
    from 1.

    `turn_id` and `call_id` are where the checker's answer is kept, as the turn that answers a call.
    """

    criteria: Criteria
    asked: str
    turns: Sequence[str]
    turn_id: str
    call_id: str = CRITERIA
    number: int = 1
    step_id: str = ""


class Checked(Frozen):
    """What came of a check, yet to be written: the criteria, the answer and the events;
    and why the session must pause, if it must.
    """

    criteria: Criteria
    messages: tuple[Message, ...] = ()
    events: tuple[Event, ...] = ()
    reason: str = ""

    def fields(self, session: Session) -> dict[str, object]:
        """Return the changed fields of a session whose criteria were checked, and those of its plan; what the
        user has added meanwhile stays as it is.
        """
        now = {item.text: item for item in self.criteria}

        def checked(criteria: Iterable[Criterion]) -> Criteria:
            return tuple(now.get(item.text, item) for item in criteria)

        plan = session.plan or core_criteria.Plan()
        # Those of other items, and of plans of chats, are not checked at the end of work.
        due = plan.open if session.group is not None else ()
        asked = [item for item in due if item.criteria]
        items = (item.checked(checked(item.criteria)) if item in asked else item for item in plan.items)
        paused = {"status": Status.PAUSED, "reason": self.reason} if self.reason else {}
        changed = session.plan and replace(plan, items=tuple(items))
        return {"criteria": checked(session.criteria), "plan": changed, **paused}


async def sources_of(context: TreeContext, turns: Sequence[str], most: int) -> list[WorkPart]:
    """Return the session's text files, and what was said in these turns and below them, in `most` characters.

    Of more than that the newest; files have at least half of the room.
    """
    said = sum(len(part.text) for part in _said(context.live, turns, most))
    files = await _files(context.services.files, context.live.id, max(most // 2, most - said))
    return files + _said(context.live, turns, most - sum(len(file.text) for file in files))


async def _files(files: SessionFiles, session_id: str, most: int) -> list[WorkPart]:
    found: list[WorkPart] = []
    with suppress(MootError):
        # A hidden file or one with keys was named for those who work, not for another provider.
        there = [version for version in await files.list(session_id) if is_usual(version.path)]
        for version in sorted(there, key=lambda version: version.created_at, reverse=True):
            if not most:
                break
            _, data = await files.read(session_id, version.path)
            # What holds a zero is no text. A character takes at most four bytes.
            text = "" if b"\0" in data else data[: 4 * most].decode(errors="ignore").strip()[:most]
            most -= len(text)
            found += [WorkPart(text=text, file=version.path)] if text else []
    return found


def _said(live: LiveSession, turns: Iterable[str], most: int) -> list[WorkPart]:
    found: list[WorkPart] = []
    for message in reversed(live.said_in(turns)):
        if message.role == Role.ASSISTANT and message.state == MessageState.DONE:
            text = message.content.strip()[:most]
            most -= len(text)
            found += [WorkPart(text=text, message_id=message.id)] if text else []
    return found[::-1]


def is_checked(live: LiveSession, turn_id: str, call_id: str = CRITERIA) -> bool:
    """Say whether a checker has answered; one that failed is asked again after the user resumed the
    session.
    """
    since = live.chat_session.chat.budget_from
    said = (message for turn in live.turns.called_by(turn_id, call_id) for message in live.turns.said(turn))
    ended = ((message.state, message.id > since) for message in said)
    return any(state == MessageState.DONE or (state == MessageState.FAILED and new) for state, new in ended)


def round_of(live: LiveSession) -> int:
    """Return which round it is since the user's last message, or since the user resumed after a limit
    or the last round.
    """
    since, number = live.chat_session.chat.budget_from, 1
    for message in reversed(live.messages):
        if message.id <= since or (message.by_user and message.answers is None):
            break
        number += message.author == MOOT and message.parent_turn_id is None
    return number


def told_missing(criteria: Iterable[Criterion], prompts: Prompts, language: str) -> str:
    """Return what is told to the worker of criteria that are not met, each with the reason."""
    words = prompts.lines(language, "criteria")
    unmet = (criterion for criterion in criteria if not criterion.settled)
    missing = ((item.text, shown_by(item, lambda doubt: words.get(doubt, doubt))) for item in unmet)
    lines = (f"- {text} ({why or words['unmet']})" for text, why in missing)
    return prompts.text(language, "criteria-unmet", criteria="\n".join(lines))


async def check(context: TreeContext, wanted: Check) -> Checked:
    """Ask a checker whether criteria are met. Only cancellation leaves this."""
    live, services = context.live, context.services
    seat, other = _checker(context)
    if seat is None:
        nobody = unknown(wanted.criteria, Doubt.NO_CHECKER, round=wanted.number)
        return _told(live, wanted, nobody, Reason.CRITERIA_UNMET)
    most = min(MOST_WORK, 2 * max(0, fits(services.models.known_facts(*seat))))
    sources = await sources_of(context, wanted.turns, most)
    open_ones = [criterion for criterion in wanted.criteria if criterion.state != CriterionState.ACCEPTED]
    decoy = random.randrange(len(open_ones) + 1)
    # Nobody who wrote the work can have known these.
    mark, word = (f"{random.getrandbits(64):016x}" for _ in range(2))
    name = last_part(seat[1])
    author = Author(id=f"{live.id}-{CRITERIA}", name=name, kind="helper")
    place = {"parent_turn_id": wanted.turn_id, "parent_call_id": wanted.call_id}
    message = new_message(Role.ASSISTANT, author, part=CRITERIA, round=wanted.number, **place)

    def request(_: object) -> ModelRequest:
        words = services.prompts.lines(context.language, "criteria")
        texts = [criterion.text for criterion in open_ones]
        texts.insert(decoy, words["decoy"].format(word=word))
        named = enumerate(((source.file and f" {source.file}", source.text) for source in sources), 1)
        text = services.prompts.text(
            context.language,
            "criteria-check",
            mark=mark,
            asked=wanted.asked[:MOST_WORK],
            work="\n".join(f"{mark} ({number}){name}\n{said}" for number, (name, said) in named),
            criteria="\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1)),
        )
        return one_message(*seat, text, schema=_VERDICTS)

    cleaner, may_ask = partial(ReplyCleaner.for_name, name), context.budget.take_model_call
    plan = CallPlan(message=message, provider=seat[0], request=request, cleaner=cleaner, may_ask=may_ask)
    live.start_turn(message)
    answer = await SpeakerTurn(live, services, message.author, waits=context.waits).call(plan)
    by = Checker(name=name, provider=seat[0], model=seat[1], other_family=other)
    if isinstance(answer, str):
        doubtful = unknown(wanted.criteria, Doubt.NO_ANSWER, round=wanted.number, checked_by=by)
        return _told(live, wanted, doubtful, answer or context.budget.reached())
    return _told(live, wanted, judged(wanted, answer, decoy, sources, by), "", answer)


async def check_item(context: TreeContext, turn_id: str, call_id: str, item: PlanItem) -> Criteria:
    """Have the criteria of a plan item checked that a call says is done, MOST_ROUNDS times at most:
    then the user ticks it.
    """
    live, number = context.live, 1 + max(criterion.round for criterion in item.criteria)
    if number > MOST_ROUNDS:
        return item.criteria
    turns, call = tuple(live.turns.back_from(turn_id)), f"{CRITERIA}:{call_id}"
    wanted = Check(item.criteria, item.text, turns, turn_id=turn_id, call_id=call, number=number)
    checked = await check(context, wanted)
    # What came of it is told with the plan; events of criteria are the session's.
    told = (event for event in checked.events if not isinstance(event, CriterionChecked))
    live.finish_messages(checked.messages, *told)
    return checked.criteria if checked.messages else item.criteria


def _told(live: LiveSession, wanted: Check, criteria: Criteria, reason: str, *answers: Message) -> Checked:
    used = ((item.turn_id, item.usage) for item in answers if item.usage)
    events: list[Event] = [UsageReported(session_id=live.id, turn_id=at, usage=usage) for at, usage in used]
    events += [
        CriterionChecked(session_id=live.id, criterion=criterion, place=place, step_id=wanted.step_id)
        for place, criterion in enumerate(criteria)
        if criterion.state != CriterionState.ACCEPTED
    ]
    return Checked(criteria=criteria, messages=answers, events=(*events,), reason=reason)


def judged(wanted: Check, answer: Message, decoy: int, sources: Sequence[WorkPart], by: Checker) -> Criteria:
    """Return the criteria as a checker's answer and the work leave them; `decoy` is the place
    of the one that nothing meets.
    """
    said = _verdicts(answer.content) if answer.state == MessageState.DONE else {}
    plain = [(source, _plain(source.text)) for source in sources]
    doubt = Doubt.NO_ANSWER if answer.state != MessageState.DONE else Doubt.SILENT
    trap = said.pop(decoy + 1, None)
    if said and (trap is None or trap.get("verdict") != CriterionState.UNMET):
        said, doubt = {}, Doubt.UNRELIABLE
    found, number = [], 0
    for criterion in wanted.criteria:
        if criterion.state == CriterionState.ACCEPTED:
            found.append(criterion)
            continue
        number += 1 + (number == decoy)
        verdict = said.get(number, {})
        says = _plain(str(verdict.get("why", "")))[:MOST_SAID]
        kept = Criterion(text=criterion.text, says=says, checked_by=by, round=wanted.number)
        found.append(_found(kept, verdict, plain, doubt))
    return tuple(found)


def _found(
    kept: Criterion, verdict: Mapping[str, object], plain: Sequence[tuple[WorkPart, str]], doubt: str
) -> Criterion:
    """Return a criterion with its state: met only where the words that show it are in the work."""
    word = verdict.get("verdict")
    if word == CriterionState.UNMET:
        return replace(kept, state=CriterionState.UNMET)
    quote = _plain(str(verdict.get("quote", "")))
    if word == CriterionState.MET:
        doubt = Doubt.NOT_FOUND
        if len(quote) > MOST_QUOTE or sum(map(str.isalnum, quote)) < LEAST_QUOTE:
            doubt, quote = Doubt.NO_QUOTE, ""
        source = next((part for part, text in reversed(plain) if quote and quote in text), None)
        if source is not None:
            evidence = core_criteria.Evidence(quote=quote, file=source.file, message_id=source.message_id)
            return replace(kept, state=CriterionState.MET, evidence=evidence)
    return replace(kept, state=CriterionState.UNKNOWN, doubt=doubt)


def _verdicts(text: str) -> dict[int, Mapping[str, object]]:
    """Return what a checker says of each criterion, by its number; one of
    which it says two things is left out.
    """
    found: dict[int, Mapping[str, object]] = {}
    twice = set()
    for item in objects_in((read_object(text) or {}).get("criteria")):
        number = item.get("number")
        if type(number) is int:
            twice |= {number} & found.keys()
            found[number] = item
    return {number: item for number, item in found.items() if number not in twice}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _checker(context: TreeContext) -> tuple[Seat | None, bool]:
    """Return the model that checks, and whether its family is another than those of all who worked;
    else it is the last that worked. None where nobody can.
    """
    directory = context.services.directory
    messages = (msg for msg in reversed(context.live.messages) if msg.role == Role.ASSISTANT and not msg.part)
    worked = list(dict.fromkeys(message.model for message in messages if message.model))
    other = context.services.outsider(worked)
    for name in (other, *worked):
        provider, _, model = name.partition("/")
        if directory.has_provider(provider) and not directory.model(provider, model).guided:
            return (provider, model), name == other
    return None, False
