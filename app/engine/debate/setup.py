"""The set-up of a debate, its checks, and the participants that can be chosen for it."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core import catalog, session
from app.core.catalog import COMPATIBLE, EMBEDDED, EMBEDDED_MODEL, EMBEDDED_VOICES, LOCAL, provider_kind
from app.core.council import ANY_JUDGE, MIN_PARTICIPANTS, NO_JUDGE, Option, Participant
from app.core.definitions import Agent
from app.core.draft import Draft, ParticipantDraft, SetupDraft
from app.core.errors import BadInput, FailureKind
from app.core.files import MOST_CONTEXT
from app.core.ids import new_id, utc_now
from app.core.message import Attachments
from app.core.provider import ProviderStatus, last_part
from app.core.texts import clean_text, trimmed
from app.engine.debate.families import family_of
from app.engine.debate.modes import MODES, with_sides
from app.engine.debate.replies import MOST_OPTIONS, each_once, numbered_options, one_line
from app.engine.library.agents import AgentModel
from app.engine.names import USER_NAMES, normal
from app.engine.providers import ProviderProblem, is_here, is_own_server

MAX_PARTICIPANTS = 12
MAX_NAME = 60
MAX_ROLE = 2_000
TITLE_LENGTH = 120
MIN_OPTIONS = 2
# So many models of a single server are chosen from the start.
MOST_FAMILIES = 3


class DebateSetup(session.DebateChoices):
    """What was chosen before the start, by the program `asked_by` or the user (""); a `seed`
    of None is derived from the session's id.
    """

    topic: str
    participants: tuple[Participant, ...]
    mode: str = session.DebateMode.ROUND_ROBIN
    seed: int | None = None
    context: Attachments = ()
    language: str = "en"
    folder: str = ""
    asked_by: str = ""
    # What can be chosen, in words; empty where that is to be found.
    options: tuple[str, ...] = ()


@dataclass(slots=True)
class Candidate:
    """A participant that can be chosen: an assistant, or (`plain`) a provider's model."""

    participant: Participant
    status: ProviderStatus
    chosen: bool = False
    plain: bool = True


def session_of(setup: DebateSetup, statuses: Sequence[ProviderStatus]) -> session.DebateSession:
    """Return the session of a set-up that passes every check. Raises BadInput."""
    topic = trimmed(clean_text(setup.topic))
    if not topic:
        raise BadInput("topic_empty")
    if len(topic) > session.MAX_TOPIC_CHARACTERS:
        raise BadInput("topic_too_long", characters=len(topic), most=session.MAX_TOPIC_CHARACTERS)
    if setup.mode not in (*(row.mode for row in MODES), session.DebateMode.COUNCIL):
        raise BadInput("unknown_mode", mode=setup.mode, modes=", ".join(row.mode for row in MODES))
    least, most = session.MIN_ROUNDS, session.MAX_ROUNDS
    if not least <= setup.rounds <= most:
        raise BadInput("rounds_out_of_range", rounds=setup.rounds, least=least, most=most)
    if sum(len(file.text) for file in setup.context) > MOST_CONTEXT:
        raise BadInput("context_too_much", most=MOST_CONTEXT)
    participants = _completed(setup, {status.config.id: status for status in statuses})
    session_id, now = new_id(), utc_now()
    context = [replace(one, name=clean_text(one.name), text=clean_text(one.text)) for one in setup.context]
    draft = draft_of(replace(setup, topic=topic, participants=participants, context=tuple(context)), statuses)
    seed = setup.seed if setup.seed is not None else int.from_bytes(session_id.encode()[-6:], "big")
    begun = replace(draft, id=session_id, title=title_of(topic), created_at=now, updated_at=now)
    begun = replace(begun, status=session.Status.RUNNING, folder=setup.folder, asked_by=setup.asked_by)
    return replace(begun, debate=replace(draft.debate, seed=seed, options=given_options(setup.options)))


def given_options(texts: Sequence[str]) -> tuple[Option, ...]:
    """Return options as the user gave them, each once. Raises BadInput for a single one, or too many."""
    options = numbered_options(each_once(texts), "user", "u")
    if options and not MIN_OPTIONS <= len(options) <= MOST_OPTIONS:
        raise BadInput("options_count", count=len(options), least=MIN_OPTIONS, most=MOST_OPTIONS)
    return options


def prompt_place(mode: str, participants: Sequence[Participant]) -> str:
    """Return what a written prompt depends on: the mode, and who takes part in which role."""
    roles = mode == session.DebateMode.ROLES
    return f"{mode}: " + ", ".join(f"{item.name} ({item.role if roles else ''})" for item in participants)


def set_up_again(
    debate: session.Debate, offered: Sequence[Participant], plain: Collection[str] = ()
) -> Draft:
    """Return the set-up of a debate to start it once more, with the participants that can be chosen now.

    Those with an id in `plain` are their models: with another one they would be somebody else.
    """
    models = {participant.seat for participant in offered}
    by_id = {participant.id: participant for participant in offered}

    def draft(one: Participant, **chosen: Any) -> ParticipantDraft:
        return ParticipantDraft(id=one.id, provider=one.provider, model=one.model, **chosen)

    place = prompt_place(debate.mode, debate.participants)
    candidates = {participant.id: draft(participant, chosen=False) for participant in offered}
    for item in debate.participants:
        there = by_id.get(item.id)
        moved = item.id in plain or item.seat in models
        added = there is None or (item.seat != there.seat and moved)
        role = item.role if debate.mode == session.DebateMode.ROLES else ""
        style = {"effort": item.effort, "creativity": item.creativity, "length": item.length}
        style["prompt_for"] = place if item.system_prompt else ""
        again = draft(item, name=item.name, role=role, system_prompt=item.system_prompt, chosen=True, **style)
        candidates[f"added {item.id}" if added else item.id] = replace(again, added=added)
    mode = session.DebateMode.ROUND_ROBIN if debate.is_council else debate.mode
    looks = any(attachment.data or attachment.pages for attachment in debate.context)
    options = tuple(option.text for option in debate.options)
    setup = SetupDraft(mode=mode, seats=tuple(candidates.values()), options=options, **debate.chosen())
    setup = replace(setup, context=bool(debate.context), looks=looks, seed=debate.seed)
    return Draft(text=debate.topic, setup=setup)


def draft_of(setup: DebateSetup, statuses: Sequence[ProviderStatus]) -> session.DebateSession:
    """Return the session of an incomplete set-up, to show what would be sent and who could take part,
    judge and help.
    """
    kinds = {status.config.id: status.config.kind for status in statuses}
    participants = with_sides(setup.participants, [kinds.get(who.provider, "") for who in setup.participants])
    options = numbered_options(each_once(setup.options), "user", "u")
    debate = session.Debate(topic=setup.topic, participants=participants, options=options, **setup.chosen())
    debate = replace(debate, mode=session.DebateMode(setup.mode), language=setup.language)
    debate = replace(debate, context=setup.context)
    return session.DebateSession(id="", title="", debate=debate)


def title_of(topic: str) -> str:
    """Return a topic as a title: one line, not too long, without characters that change the direction
    of text.
    """
    return one_line("".join(c for c in topic if c.isprintable() or c.isspace()), TITLE_LENGTH)


def knows_judge(judge: str, statuses: Sequence[ProviderStatus]) -> bool:
    """Whether a judge is "", ANY_JUDGE, NO_JUDGE, or a "provider/model" of a provider there is."""
    provider, _slash, model = judge.partition("/")
    known = {status.config.id for status in statuses}
    return judge in ("", ANY_JUDGE, NO_JUDGE) or bool(model and provider in known)


def _completed(setup: DebateSetup, statuses: dict[str, ProviderStatus]) -> tuple[Participant, ...]:
    """Check the participants; return them with distinct ids and names, and with sides where they lack
    them.
    """
    if len(setup.participants) < MIN_PARTICIPANTS:
        raise BadInput("too_few_participants", count=len(setup.participants), least=MIN_PARTICIPANTS)
    if len(setup.participants) > MAX_PARTICIPANTS:
        raise BadInput("too_many_participants", count=len(setup.participants), most=MAX_PARTICIPANTS)
    completed: list[Participant] = []
    for participant in setup.participants:
        status = statuses.get(participant.provider)
        name = distinct(_clean_name(participant.name), (*USER_NAMES, *(item.name for item in completed)))
        if status is None or provider_kind(status.config.kind) is None:
            known = ", ".join(statuses)
            raise BadInput("unknown_provider", name=name, provider=participant.provider, providers=known)
        if status.problem == ProviderProblem.UNREADABLE:
            raise BadInput(FailureKind.PROVIDER_UNREADABLE, provider=status.config.id, place=status.place)
        if not status.config.enabled:
            raise BadInput("provider_disabled", name=name, provider=status.label)
        if status.config.kind == EMBEDDED and status.problem:
            raise BadInput("embedded_missing", name=name)
        model = participant.model or status.default_model
        _check_model(name, model, status)
        if len(participant.role) > MAX_ROLE:
            raise BadInput("role_too_long", name=name, most=MAX_ROLE)
        taken = participant.id in {"", *(item.id for item in completed)}
        named = replace(participant, id=new_id() if taken else participant.id, name=name, model=model)
        texts = {item: clean_text(getattr(named, item)) for item in ("role", "persona", "system_prompt")}
        completed.append(replace(named, **texts | {"role": texts["role"].strip()}))
    problems = [(item.name, statuses[item.provider].problem) for item in completed]
    # A local server may still be started.
    if all(problem not in ("", ProviderProblem.NO_SERVER) for _, problem in problems):
        raise BadInput("nobody_ready", participants=tuple(problems))
    sided = with_sides(completed, [statuses[item.provider].config.kind for item in completed])
    without_role = [seat.name for seat in sided if not (seat.role or seat.system_prompt.strip())]
    if setup.mode == session.DebateMode.ROLES and without_role:
        raise BadInput("role_missing", name=without_role[0])
    return sided


def _check_model(name: str, model: str, status: ProviderStatus) -> None:
    """Raise BadInput for a model that is known to be missing: not the built-in one, not on the user's
    list.
    """
    if not model:
        raise BadInput("model_missing", name=name, provider=status.label)
    kind, known = provider_kind(status.config.kind), status.config.models
    own_list = bool(known) and (kind is None or known != kind.models)
    if status.config.kind == EMBEDDED:
        own_list, known = True, (EMBEDDED_MODEL,)
    if own_list and model not in known:
        names = ", ".join(known)
        raise BadInput("unknown_model", name=name, model=model, provider=status.label, models=names)


def joining(debate: session.Debate, model: str) -> Participant:
    """Return a "provider/model" as a participant that takes part in a debate from now on,
    under a name nobody has.
    """
    provider, _, name = model.partition("/")
    taken = (*USER_NAMES, *(participant.name for participant in debate.participants))
    shown = distinct(_clean_name(last_part(name)), taken)
    return Participant(id=new_id(), name=shown, provider=provider, model=name)


def _clean_name(name: str) -> str:
    """Return a name that fits in a label: one line, no brackets or colons, not too long."""
    name = "".join(c if c.isprintable() else " " for c in normal(clean_text(name)))
    name = " ".join(re.sub(r"[\[\]［］:：@]", " ", name).split())[:MAX_NAME].strip()
    if not name:
        raise BadInput("name_empty")
    return name


def distinct(name: str, taken: Iterable[str]) -> str:
    """Return a name, with a number where one of those taken is the same but for capitals."""
    known, chosen, number = {item.casefold() for item in taken}, name, 1
    while chosen.casefold() in known:
        number += 1
        chosen = f"{name} {number}"
    return chosen


def candidates_of(
    agents: Sequence[tuple[Agent, AgentModel]], statuses: Sequence[ProviderStatus]
) -> list[Candidate]:
    """Return who can be chosen: the assistants, each provider's model, and the two participants
    of the built-in model.

    Each assistant comes with its model. Chosen from the start are providers that have a key, else external
    agents, else the user's own servers, else models downloaded for this computer, else Ada and Ben: of each
    one model, of a single provider two, and of a single own server as many as three families.
    """
    by_id = {status.config.id: status for status in statuses}
    assistants = [(agent, used) for agent, used in agents if agent.enabled and used.provider in by_id]
    candidates = [Candidate(_seat_of(*item), by_id[item[1].provider], plain=False) for item in assistants]
    enabled = [status for status in statuses if status.config.enabled]
    remote = [status for status in enabled if status.config.kind != EMBEDDED]
    ready = [status for status in remote if status.ready]
    with_key = [status for status in ready if status.key_source]
    first = with_key or [status for status in ready if status.config.kind == catalog.PROGRAM]
    first = first or [status for status in ready if is_own_server(status)]
    downloaded = [] if first else local_debaters(statuses)
    for status in remote:
        if status.config.kind == LOCAL:
            others = (model for model in status.models if model not in {each.model for each in downloaded})
            candidates += [Candidate(participant, status, chosen=True) for participant in downloaded]
            candidates += [Candidate(_seat(f"local-{item}", item, status, item), status) for item in others]
            continue
        names: list[str] = []
        for place, model in enumerate(_offered(status, alone=first == [status]), 1):
            seat_id = status.config.id if place == 1 else f"{status.config.id}-{place}"
            names.append(distinct(voice_of(status, model), names))
            candidates.append(Candidate(_seat(seat_id, names[-1], status, model), status, status in first))
    for status in (item for item in enabled if item.config.kind == EMBEDDED):
        for place, voice in enumerate(EMBEDDED_VOICES):
            chosen = not first and not downloaded and place < MIN_PARTICIPANTS and status.ready
            candidates.append(Candidate(_seat(voice.lower(), voice, status, EMBEDDED_MODEL), status, chosen))
    # An assistant's id comes from its name, which may be that of a provider's participant: the assistant
    # keeps the id.
    taken = {agent.id for agent, _ in agents}
    for candidate in candidates:
        if candidate.plain and candidate.participant.id in taken:
            candidate.participant = replace(candidate.participant, id=f"seat-{candidate.participant.id}")
    return candidates


def _offered(status: ProviderStatus, *, alone: bool) -> Sequence[str]:
    """Return the models of a provider that are offered: its usual one, and more where it is `alone`."""
    if not alone:
        return (status.default_model,)
    here = [model for model in status.models if is_own_server(status) and is_here(status, model)]
    families = _families(here)
    if len(families) > 1:
        return families[:MOST_FAMILIES]
    return (status.default_model, status.models[1] if len(status.models) > 1 else status.default_model)


def _families(models: Sequence[str]) -> list[str]:
    """Return of each family of models the first."""
    found: dict[str, str] = {}
    for model in models:
        found.setdefault(family_of(model), model)
    return list(found.values())


def voice_of(status: ProviderStatus, model: str) -> str:
    """Return the name of a provider's participant; that of the model where the provider has but an
    address, or is a server with models of any maker that nobody named.
    """
    unnamed = is_own_server(status) and not status.config.label
    if model and (status.config.kind in (COMPATIBLE, LOCAL) or unnamed):
        return last_part(model)
    kind = provider_kind(status.config.kind)
    return status.config.label or (kind.voice if kind else "") or status.config.id


def local_debaters(statuses: Sequence[ProviderStatus]) -> list[Participant]:
    """Return the two who debate by default where models were downloaded: of two families,
    else one model twice.
    """
    ready = [item for item in statuses if item.config.kind == LOCAL and item.ready]
    if not ready:
        return []
    [status] = ready
    first, second = (*_families(status.models), status.models[0])[:2]
    name = second if second != first else f"{first} 2"
    return [_seat("local-1", first, status, first), _seat("local-2", name, status, second)]


def _seat(seat_id: str, name: str, status: ProviderStatus, model: str) -> Participant:
    return Participant(id=seat_id, name=name, provider=status.config.id, model=model)


def _seat_of(agent: Agent, used: AgentModel) -> Participant:
    seat = Participant(id=agent.id, name=agent.name, provider=used.provider, model=used.model)
    seat = replace(seat, effort=agent.effort, creativity=agent.creativity, length=agent.length)
    return replace(seat, persona=agent.instructions)
