"""Asks for ballots and for the verdict; used by the debate's run and its commands."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from app.core.errors import BAD_RESPONSE, BUDGET_MONTH, ProviderError
from app.core.message import Message, Usage
from app.core.provider import Delta, Finished, ModelRequest, Text
from app.core.session import DebateSession, Participant
from app.core.verdict import Ballot, Verdict
from app.engine.live_session import LiveSession
from app.engine.metered_models import MeteredModels
from app.engine.prompts import Prompts
from app.engine.verdict import (
    TOO_SMALL,
    Judge,
    ballot_request,
    last_words,
    read_verdict,
    stance_of,
    verdict_request,
)


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

    async def vote(voter: Participant) -> Ballot:
        ballot = Ballot(participant=voter.id, round=round_number)
        if voter not in voters:
            return ballot
        try:
            answer, usage = await _ask(models, live.id, ballot_request(debate, messages, voter, prompts))
        except ProviderError as error:
            if error.kind == BUDGET_MONTH:
                raise
            return ballot
        return replace(ballot, stance=stance_of(answer), usage=usage)

    votes = await asyncio.gather(*(vote(one) for one in debate.participants), return_exceptions=True)
    for one in votes:
        if isinstance(one, BaseException):
            raise one
    return tuple(one for one in votes if isinstance(one, Ballot))


async def judged(
    session: DebateSession,
    messages: Sequence[Message],
    judges: Sequence[Judge],
    models: MeteredModels,
    prompts: Prompts,
) -> Verdict:
    """Return the verdict of the first judge that gives one; where none does, everybody's last words.

    Raises ProviderError where the month's limit forbids to ask.
    """
    failure = TOO_SMALL
    for judge in judges:
        try:
            answer, usage = await _ask(
                models, session.id, verdict_request(session.debate, messages, judge, prompts)
            )
        except ProviderError as error:
            if error.kind == BUDGET_MONTH:
                raise
            failure = error.kind
            continue
        verdict = read_verdict(answer, messages, judge)
        if verdict is not None:
            return replace(verdict, usage=usage)
        failure = BAD_RESPONSE
    return last_words(session, messages, failure)


async def _ask(models: MeteredModels, session_id: str, request: ModelRequest) -> tuple[str, Usage | None]:
    pieces: list[str] = []
    usage = None
    async with aclosing(
        cast(AsyncGenerator[Delta, None], models.stream_noted(request, session_id))
    ) as stream:
        async for delta in stream:
            if isinstance(delta, Text):
                pieces.append(delta.text)
            elif isinstance(delta, Finished):
                usage = Usage(
                    provider=request.provider,
                    model=request.model,
                    input_tokens=delta.input_tokens,
                    output_tokens=delta.output_tokens,
                    cost_usd=delta.cost_usd,
                )
    return "".join(pieces), usage
