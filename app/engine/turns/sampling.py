"""Asks the turn's model what an MCP server wants of it while one of its tools runs, after the user's yes."""

import json
from collections.abc import Awaitable, Callable

from app.core.errors import ProviderError
from app.core.message import Consent, Prompt, PromptReason, PromptType, Role, ToolCall
from app.core.provider import ModelRequest
from app.core.tool import Sampled, Sampling, Tool
from app.engine.chat.request import AgentTurn
from app.engine.live_session import LiveSession
from app.engine.turns.metered_models import MeteredModels

MOST_TOKENS = 4_096
"""More than that no answer has, whatever the server wants."""


async def sample(
    sampling: Sampling,
    live: LiveSession,
    models: MeteredModels,
    turn: AgentTurn,
    call: ToolCall,
    tool: Tool,
    ask: Callable[[Prompt], Awaitable[str | None]],
) -> Sampled | None:
    """Return the model's answer, None where the user refused or the model cannot be asked.

    It is asked within the month's limit, and what it costs counts for the session.
    """
    model = turn.agent_model
    if model.external or model.guided:
        return None
    said = [{"role": role, "text": text} for role, text in sampling.messages]
    shown = {"system": sampling.system, "messages": said} if sampling.system else {"messages": said}
    prompt = Prompt(
        question=call.name,
        type=PromptType.APPROVAL,
        tool=tool.key,
        arguments=json.dumps(shown, ensure_ascii=False),
        reason=PromptReason.SAMPLING,
        server=tool.group,
    )
    if await ask(prompt) != Consent.ALLOW:
        return None
    system = [{"role": Role.SYSTEM, "content": sampling.system}] if sampling.system else []
    request = ModelRequest(
        provider=model.provider,
        model=model.model,
        messages=(*system, *({"role": role, "content": text} for role, text in sampling.messages)),
        max_tokens=max(1, min(sampling.max_tokens, MOST_TOKENS)),
    )
    try:
        text = await models.ask(request, live.id, turn.author, used=live.note_unsaid)
    except ProviderError:
        return None
    return Sampled(text=text, model=model.model)
