"""The commands of workflows: recognise one and run it, and steer its steps; used by commands."""

from collections.abc import Awaitable, Callable

from app.cli.commands.chats import finish, follow_chat
from app.cli.follow import Call, followed, session_id_of, warm_up
from app.cli.parser import ACCEPT, RETRY, SKIP
from app.cli.printing.chats import ChatPrinter
from app.core.errors import BadInput
from app.core.workflow import WorkflowDefinition
from app.engine.chat.input import checked_text


async def workflow(call: Call) -> int:
    """Run the workflow that a command calls for, or the one that was named."""
    engine, text = call.moot.engine, checked_text(call.arguments.text, ())
    definition = await _definition(call, text)

    async def start() -> str:
        await warm_up(call.moot)
        return await engine.workflows.start(text, definition.id)

    return await finish(call, await followed(call, start, ChatPrinter(call.texts)))


async def step(call: Call) -> int:
    """Retry, skip or accept a step, and follow the workflow on from there."""
    workflows = call.moot.engine.workflows
    live = await call.moot.engine.open(session_id_of(call.arguments))
    if live.session.workflow is None:
        raise BadInput("not_a_workflow", title=live.session.title)
    actions: dict[str, Callable[[str, str], Awaitable[None]]] = {
        RETRY: workflows.retry,
        SKIP: workflows.skip,
        ACCEPT: workflows.accept,
    }
    act = actions[call.arguments.action]
    return await follow_chat(call, live, lambda: act(live.id, call.arguments.step))


async def _definition(call: Call, text: str) -> WorkflowDefinition:
    """Return the definition that was named, else what the command is recognised as. Raises BadInput."""
    workflows = call.moot.engine.workflows
    if call.arguments.definition:
        return workflows.find(call.arguments.definition)
    await warm_up(call.moot)
    found = await workflows.classify(text)
    if found is None:
        raise BadInput("workflow_unclear", workflows=", ".join(one.id for one in workflows.all()))
    return found
