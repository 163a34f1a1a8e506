"""What a debate, a workflow or a group's work will cost, before it begins; `engine.estimates` for the faces."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from app.core.agent import Agent, Group
from app.core.catalog import RequestForm
from app.core.errors import ProviderError
from app.core.provider import Models, ProviderStatus
from app.core.session import AgentMode, GroupState, Participant
from app.core.usage import Price
from app.core.workflow import WorkflowDefinition
from app.engine.availability.policies import role_of
from app.engine.debate.perspective import TRANSCRIPT_CONTEXT
from app.engine.debate.roles import form_of, system_prompt
from app.engine.debate.setup import DebateSetup, draft_of
from app.engine.library.agents import Cast
from app.engine.prompts import Prompts
from app.engine.usage.estimate import Estimate, Pair, Speaker, estimate, estimate_steps, tokens_of

# Of a debate's request: whose turn it is and the frame around the topic; of a small model's: all of it.
_CUE = 80
_TRANSCRIPT = 120
_TRANSCRIPT_SAID = (20, 60)
# What an assistant is told beside its instructions, and a tool with its parameters.
_NOTES = 300
_TOOL = 120


class Estimates:
    """Estimates what is about to begin; prices are asked for once and kept."""

    def __init__(
        self, models: Models, cast: Cast, prompts: Prompts, providers: Callable[[], list[ProviderStatus]]
    ) -> None:
        self._models = models
        self._cast = cast
        self._prompts = prompts
        self._providers = providers
        self._prices: dict[Pair, Price | None] = {}

    async def ask(self, pairs: Iterable[Pair]) -> None:
        """Ask for the prices of models; one that cannot be asked for has none until the program ends."""
        for pair in pairs:
            price = None
            with suppress(ProviderError):
                price = await self._models.price(*pair)
            self._prices[pair] = price

    def debate(self, setup: DebateSetup, context_tokens: int) -> Estimate:
        """Return what a debate of these participants will use; asks nobody, reads no file."""
        statuses = {status.config.id: status for status in self._providers()}
        debate = draft_of(setup, list(statuses.values()))
        topic = tokens_of(setup.topic)

        def speaker(participant: Participant) -> Speaker:
            status = statuses.get(participant.provider)
            model = participant.model or (status.default_model if status else "")
            pair = (participant.provider, model)
            if form_of(status.config.kind if status else "") == RequestForm.TRANSCRIPT:
                sent = _TRANSCRIPT + topic + min(context_tokens, TRANSCRIPT_CONTEXT // 4)
                return Speaker(pair=pair, sent=sent, said=_TRANSCRIPT_SAID, written=_TRANSCRIPT_SAID)
            system = tokens_of(system_prompt(debate, participant, self._prompts))
            return Speaker(pair=pair, sent=system + topic + context_tokens + _CUE)

        speakers = [speaker(one) for one in debate.participants]
        voters = [one for one in speakers if one.said != _TRANSCRIPT_SAID] if setup.polls else []
        return estimate(speakers, len(speakers) * setup.rounds, self._prices, voters)

    def group(self, group: Group) -> Estimate:
        """Return what one message to a group will use at most: each turn of the orchestrator's hands over."""
        state = GroupState(id=group.id, name=group.name, members=group.members)
        leader = Agent(
            id=group.id,
            name=group.name,
            provider=group.orchestrator.provider,
            model=group.orchestrator.model,
            instructions=group.instructions,
        )
        lead, members = self._agent(leader), [self._agent(one) for one in self._cast.members(state)]
        speakers = [speaker for member in members for speaker in (lead, member)]
        return estimate(speakers, 2 * group.turns_limit if speakers else 0, self._prices)

    def workflow(self, definition: WorkflowDefinition, command: str) -> Estimate:
        """Return what the steps of a workflow will use, each with what those it depends on came to."""
        asked = tokens_of(command) + _TOOL
        agents = [one for one in self._cast.agents() if one.enabled]
        steps = []
        for step in definition.steps:
            role = role_of(step.role)
            fitting = (one for one in agents if role in (role_of(one.role), one.id.casefold()))
            speaker = self._agent(next(fitting, Agent(id=role, name=step.role, role=step.role)))
            sent = speaker.sent + asked + tokens_of(step.prompt)
            steps.append((replace(speaker, sent=sent), len(step.depends_on)))
        return estimate_steps(steps, self._prices)

    def _agent(self, agent: Agent) -> Speaker:
        voice = self._cast.voice(agent)
        tools = len(self._cast.tools(agent, AgentMode.DEFAULT))
        sent = tokens_of(agent.instructions) + _NOTES + tools * _TOOL
        return Speaker(pair=(voice.provider, voice.model), sent=sent)
