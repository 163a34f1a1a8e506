"""Asks for ballots and for the verdict; used by the debate's run and its commands."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from app.core.errors import FailureKind, ProviderError
from app.core.message import Message
from app.core.session import Participant
from app.core.usage import UsageEntry
from app.core.verdict import Ballot, Verdict
from app.engine.debate.verdict import (
    TOO_SMALL,
    Judge,
    ballot_request,
    last_words,
    read_verdict,
    stance_of,
    verdict_request,
)
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.turns.metered_models import MeteredModels


async def poll(
    live: LiveSession,
    round_number: int,
    voters: Sequence[Participant],
    models: MeteredModels,
    prompts: Prompts,
) -> tuple[Ballot, ...]:
    """Let everybody vote at once, and return their ballots; a vote that cannot be had is an empty one.

    Raises ProviderError where the month's limit forbids to ask: then nobody has voted.
    """
    debate, messages = live.debate_session.debate, list(live.messages)
    used: dict[str, UsageEntry] = {}

    async def vote(voter: Participant) -> Ballot:
        ballot = Ballot(participant=voter.id, round=round_number)
        if voter not in voters:
            return ballot
        async with models.place(voter.provider) as place:
            call = place.call(ballot_request(debate, messages, voter, prompts))
            try:
                stance = stance_of(await call.text())
            except ProviderError as error:
                if error.kind == FailureKind.BUDGET_MONTH:
                    raise
                stance = None
            finally:
                if (entry := models.note(call, live.id)) is not None:
                    used[voter.id] = entry
        return replace(ballot, stance=stance, usage=used.get(voter.id))

    ballots: list[Ballot] = []
    try:
        votes = await asyncio.gather(*(vote(one) for one in debate.participants), return_exceptions=True)
        ballots = [one for one in votes if isinstance(one, Ballot)]
    finally:
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
) -> Verdict:
    """Return the verdict of the first judge that gives one; where none does, everybody's last words.

    Raises ProviderError where the month's limit forbids to ask.
    """
    session, failure = live.debate_session, TOO_SMALL
    for judge in judges:
        verdict = None
        async with models.place(judge.provider) as place:
            call = place.call(verdict_request(session.debate, messages, judge, prompts))
            try:
                verdict = read_verdict(await call.text(), messages, judge)
                failure = FailureKind.BAD_RESPONSE
            except ProviderError as error:
                if error.kind == FailureKind.BUDGET_MONTH:
                    raise
                failure = error.kind
            finally:
                entry = models.note(call, live.id)
                if entry is not None and verdict is None:
                    live.note_unsaid(entry)
        if verdict is not None:
            return replace(verdict, usage=entry)
    return last_words(session, messages, failure)
