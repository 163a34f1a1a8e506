"""The commands of chats, groups and workflows: ask, reply, resume, show, run a workflow, steer its steps."""

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from app.cli.arguments import Action
from app.cli.command_run import CommandRun, named
from app.cli.exit_status import BY_STATUS, FAULT, OK, PAUSED_OR_STOPPED
from app.cli.printing.chats import ChatPrinter, step_lines, workflow_end
from app.cli.printing.lines import one_line
from app.cli.printing.sessions import cost_line, last_line, marks
from app.core.agent import Agent, Group
from app.core.errors import BadInput, NotFound
from app.core.files import is_image_file, is_pdf
from app.core.forms import form_text, read_form
from app.core.message import (
    AGENT_OPTION,
    DENY_BECAUSE,
    Attachment,
    Consent,
    Message,
    MessageState,
    Prompt,
    PromptType,
)
from app.core.reasons import LIMITS, reason_code
from app.core.session import AgentMode, Session, Status
from app.core.texts import exact, visible
from app.core.turns import last_answer
from app.core.workflow import WorkflowDefinition
from app.engine.chat.commands import checked_text
from app.engine.library.agents import Readers, look_of
from app.engine.live_session import LiveSession
from app.engine.requests.attached_files import look_cost, look_words

_SAID = {
    Consent.ALLOW: frozenset((Consent.ALLOW, "yes", "y", "허용", "허락", "네", "예", "응")),
    Consent.ALWAYS: frozenset((Consent.ALWAYS, "항상", "항상 허용")),
    Consent.DENY: frozenset((Consent.DENY, "refuse", "no", "n", "거부", "거절", "아니요", "아니오", "아니")),
}


_ALL = ("all", "모두", "전부")


async def ask(run: CommandRun) -> int:
    """Say something to an assistant or a group, in a new session or in an existing one."""
    engine, text = run.moot.engine, run.arguments.text
    mode, effort, folder = run.arguments.mode, run.arguments.effort, run.folder
    who = await who_of(run)
    attachments = await attachments_of(run, who)
    if not run.arguments.session:

        async def start() -> str:
            await run.warm_up()
            begin = engine.groups.start if isinstance(who, Group) else engine.chats.start
            return await begin(
                who.id, text, attachments, mode=mode or AgentMode.DEFAULT, effort=effort, folder=folder
            )

        return await finish(run, await run.follow(start, ChatPrinter(run.texts)))
    live = await engine.open(run.session_id)
    if mode:
        await engine.chats.choose_mode(live.id, mode)
    if effort:
        await engine.chats.choose_effort(live.id, effort)
    return await follow_chat(run, live, said_to(run, live, who, attachments))


def said_to(
    run: CommandRun, live: LiveSession, who: Agent | Group, attachments: tuple[Attachment, ...] = ()
) -> Callable[[], Awaitable[None]]:
    """Return how the text is sent to an assistant or a group in an existing session.

    Raises BadInput for somebody who is not in the session.
    """
    chats, text, caller = run.moot.engine.chats, run.arguments.text, run.arguments.caller
    if isinstance(who, Group) or live.session.group is not None:
        said = _addressed(live, who, text)
        return lambda: chats.send(live.id, said, attachments, by=caller)
    chat = live.chat_session.chat

    async def send() -> None:
        if chat.assistant_id != who.id:
            await chats.choose_assistant(live.id, who.id)
        await chats.send(live.id, text, attachments, by=caller)

    return send


async def attachments_of(run: CommandRun, who: Readers) -> tuple[Attachment, ...]:
    """Read the files that were given, for those who read them; without `who` only as text. Raises BadInput for one that cannot be read, or that the
    model does not take.
    """
    engine, attachments = run.moot.engine, []
    for path in run.arguments.files:
        picture, looks = is_image_file(Path(path)), run.arguments.as_it_looks and is_pdf(Path(path))
        if not (picture or looks):
            attachments.append((await run.read_file(path)).attachment())
            continue
        await engine.look_for_servers()
        if looks:
            attachments.append(await _as_it_looks(run, path, who))
            continue
        if who is None or not any(one.images for one in engine.models_for(who)):
            raise BadInput("attachment_no_images", name=path)
        with named(path):
            attachments.append(await engine.files.picture(Path(path)))
    return tuple(attachments)


async def context_of(run: CommandRun, paths: Sequence[str], who: Readers) -> tuple[Attachment, ...]:
    """Read the files that a debate or a council is given. Raises BadInput for one that cannot be read or seen."""
    context = []
    for path in paths:
        if run.arguments.as_it_looks and is_pdf(Path(path)):
            await run.moot.engine.look_for_servers()
            context.append(await _as_it_looks(run, path, who))
        else:
            context.append((await run.read_file(path)).attachment())
    return tuple(context)


async def _as_it_looks(run: CommandRun, path: str, who: Readers) -> Attachment:
    """Read a PDF file to be sent as it looks; say so if only its first pages are seen. Raises BadInput."""
    engine = run.moot.engine
    if who is None:
        raise BadInput("pdf_not_seen", name=path)
    await engine.connections.learn_about(engine.models_for(who))
    look = look_of(engine.models_for(who))
    if not look:
        raise BadInput("pdf_not_seen", name=path)
    with named(path):
        file = await engine.files.as_it_looks(Path(path), look)
    if 0 < file.shown < file.pages:
        words = run.texts("chat.file.images.cut", name=path, shown=file.shown, pages=file.pages)
        await run.out.complain(words)
    if cost := look_cost(file.attachment, engine.models_for(who), engine.connections.known_facts):
        await run.out.complain(look_words(cost, path, run.texts))
    return file.attachment


async def who_of(run: CommandRun) -> Agent | Group:
    """Return the assistant or group that was named; if both have the name, warn and return the assistant."""
    engine, typed = run.moot.engine, run.arguments.assistant
    group: Group | None = None
    with contextlib.suppress(NotFound):
        group = engine.groups.find(typed)
    try:
        agent = engine.assistants.find(typed)
    except NotFound:
        if group is None:
            raise NotFound("nobody_called", who=typed) from None
        return group
    if group is not None:
        other = group.name if group.id.casefold() == typed.strip().casefold() else group.id
        await run.out.complain(run.texts("cli.assistant_first", name=agent.name, other=other))
    return agent


def _addressed(live: LiveSession, who: Agent | Group, text: str) -> str:
    """Return the text for a group's session; a text for one member begins with @ and the member's id.

    Raises BadInput for somebody who is not in the session.
    """
    session = live.session
    if session.group is not None:
        if isinstance(who, Group) and who.id == session.group.id:
            return text
        if isinstance(who, Agent) and who.id in session.group.members:
            return f"@{who.id} {text}"
    raise BadInput("not_in_session", who=who.name, title=session.title)


def _speaker_of(run: CommandRun, live: LiveSession) -> Agent | Group | None:
    """Return whose models read what is sent to a session, None where they are several or gone."""
    session = live.session
    with contextlib.suppress(NotFound):
        if session.group is not None:
            return run.moot.engine.groups.find(session.group.id)
        if session.workflow is None:
            return run.moot.engine.assistants.find(live.chat_session.chat.assistant_id)
    return None


def check_no_files(run: CommandRun) -> None:
    """Raise BadInput where files were given to what takes none."""
    if run.arguments.files:
        raise BadInput("files_not_here", name=run.arguments.files[0])


async def reply_to_chat(run: CommandRun, live: LiveSession) -> int:
    """Answer the oldest open question; if there is none, send a message."""
    if answer := await answering(run, live):
        return await follow_chat(run, live, answer)
    attachments = await attachments_of(run, _speaker_of(run, live))
    text = run.arguments.text
    return await follow_chat(run, live, lambda: run.moot.engine.chats.send(live.id, text, attachments))


async def answering(run: CommandRun, live: LiveSession) -> Callable[[], Awaitable[None]] | None:
    """Return how a reply answers the oldest open question of a session, None where there is none.

    The user is asked for what is hidden of a form.
    """
    chats = run.moot.engine.chats
    text = run.arguments.text
    waiting = [question for session_id, question in chats.needs_you() if session_id == live.id]
    if not waiting:
        return None
    check_no_files(run)
    question = min(waiting, key=lambda one: one.id)
    if question.prompt is None or question.prompt.type != PromptType.APPROVAL:
        if question.prompt is not None:
            text = await _with_hidden(run, question.prompt)
        return lambda: chats.answer(live.id, question.id, text)
    words = text.rsplit(maxsplit=1)
    if len(words) == 2 and words[1].casefold() in _ALL and ":" not in text and question.prompt.joins:
        # The calls of one turn, which were all printed with their arguments.
        together = [one.id for one in live.turns.together(question)]
        each = _approval(words[0])
        return lambda: chats.answer_calls(live.id, together, each)
    answer = _approval(text)
    return lambda: chats.answer(live.id, question.id, answer)


async def _with_hidden(run: CommandRun, prompt: Prompt) -> str:
    """Return the text of a reply with the values of the hidden fields that it leaves out.

    Raises BadInput where the user gives a question up.
    """
    text = run.arguments.text
    values = read_form(text, prompt.fields) if text.strip() else {}
    missing = [field for field in prompt.fields if field.hidden and field.key not in (values or {})]
    if values is None or not missing or run.arguments.json:
        return text
    await run.out.complain(run.texts("form.secret", server=exact(prompt.server)))
    for field in missing:
        said = await run.ask(f"{one_line(visible(field.label))}: ", secret=True)
        if said is None:
            raise BadInput("form_unfit", field=field.label)
        values[field.key] = (said,)
    return form_text(values)


async def resume_chat(run: CommandRun, live: LiveSession) -> int:
    """Resume a chat, a group or a workflow. Raises BadInput for options that only debates have."""
    if run.arguments.skip_turn or run.arguments.without:
        raise BadInput("not_a_debate", title=live.session.title)
    return await follow_chat(run, live, lambda: run.moot.engine.resume(live.id))


async def retry(run: CommandRun) -> int:
    """Have the last answer of a chat or a group made again, with another model or effort where one is given."""
    live = await run.moot.engine.open(run.session_id)
    provider, _, model = run.arguments.model.partition("/")
    if run.arguments.model and not (provider and model):
        raise BadInput("bad_model", model=run.arguments.model)
    last = live.turns.first(live.chat_session.chat.head)
    if last is None:
        raise BadInput("nothing_to_retry")
    again = run.moot.engine.chats.retry
    return await follow_chat(
        run,
        live,
        lambda: again(live.id, last.id, provider=provider, model=model, effort=run.arguments.effort),
    )


async def follow_chat(run: CommandRun, live: LiveSession, go_on: Callable[[], Awaitable[None]]) -> int:
    """Continue a chat and print it until it is the user's turn."""
    printer = ChatPrinter(run.texts)
    printer.know(live.session, live.messages)

    async def start() -> str:
        await run.warm_up()
        await go_on()
        return live.id

    return await finish(run, await run.follow(start, printer))


async def show_chat(run: CommandRun, live: LiveSession) -> int:
    """Print the current branch of a chat."""
    printer = ChatPrinter(run.texts)
    printer.know(live.session)
    await run.out.write(printer.heading(live.session))
    for text in printer.transcript(live.shown_with_summaries()):
        await run.out.write(text)
    if live.session.plan is not None:
        await run.out.write(printer.plan(live.session.plan))
    if live.session.workflow is not None:
        await run.out.write("\n" + "".join(step_lines(live.session.workflow, run.texts)))
        await run.out.write("\n" + workflow_end(live.session, run.texts))
        return OK
    cost = cost_line(live.session, live.messages, run.texts)
    await run.print("\n" + cost + last_line(live.session, run.texts, read=True))
    return OK


async def finish(run: CommandRun, session: Session) -> int:
    """Print the state of a chat and return the exit status, which is 0 only if the assistant has answered."""
    if session.workflow is not None:
        if not run.arguments.json:
            await run.out.write("\n" + workflow_end(session, run.texts))
        return BY_STATUS.get(session.status, PAUSED_OR_STOPPED)
    if not run.arguments.json:
        await run.print("\n" + last_line(session, run.texts))
    if session.status != Status.IDLE:
        return BY_STATUS.get(session.status, PAUSED_OR_STOPPED)
    if reason_code(session.reason) in LIMITS:
        return PAUSED_OR_STOPPED
    answer = _last_answer(run, session)
    if answer is not None and answer.state == MessageState.FAILED:
        for line in marks(answer, run.texts):
            await run.out.complain(line.strip(" !\n"))
        return FAULT
    return OK if answer is not None and answer.state == MessageState.DONE else PAUSED_OR_STOPPED


def _last_answer(run: CommandRun, session: Session) -> Message | None:
    live = run.moot.engine.live(session.id)
    return last_answer(live.turns.said(live.chat_session.chat.head)) if live is not None else None


def _approval(text: str) -> str:
    """Return what a word means as the answer to an approval. Raises BadInput that lists the possible words."""
    word, colon, reason = text.partition(":")
    if colon and reason.strip() and " ".join(word.casefold().split()) in _SAID[Consent.DENY]:
        return f"{DENY_BECAUSE}{reason.strip()}"
    wanted = " ".join(text.casefold().split()).rstrip(".!")
    for answer, words in _SAID.items():
        if wanted in words:
            return answer
    if wanted in tuple(Consent) or wanted.startswith(AGENT_OPTION):
        return wanted
    raise BadInput(
        "answer_unfit", answers=f"{Consent.ALLOW}, {Consent.ALWAYS}, {Consent.DENY}, {Consent.DENY}: …"
    )


async def workflow(run: CommandRun) -> int:
    """Run the workflow that was named, or the one that the text calls for."""
    engine, text = run.moot.engine, checked_text(run.arguments.text, ())
    definition = await _definition(run, text)

    async def start() -> str:
        await run.warm_up()
        return await engine.workflows.start(text, definition.id)

    return await finish(run, await run.follow(start, ChatPrinter(run.texts)))


async def step(run: CommandRun) -> int:
    """Retry, skip or accept a step, and follow the workflow from there."""
    workflows = run.moot.engine.workflows
    live = await run.moot.engine.open(run.session_id)
    if live.session.workflow is None:
        raise BadInput("not_a_workflow", title=live.session.title)
    actions: dict[str, Callable[[str, str], Awaitable[None]]] = {
        Action.RETRY: workflows.retry,
        Action.SKIP: workflows.skip,
        Action.ACCEPT: workflows.accept,
    }
    act = actions[run.arguments.action]
    return await follow_chat(run, live, lambda: act(live.id, run.arguments.step))


async def _definition(run: CommandRun, text: str) -> WorkflowDefinition:
    """Return the workflow that was named, or the one that the text is classified as. Raises BadInput."""
    workflows = run.moot.engine.workflows
    if run.arguments.definition:
        return workflows.find(run.arguments.definition)
    await run.warm_up()
    found = await workflows.classify(text)
    if found is None:
        raise BadInput("workflow_unclear", workflows=", ".join(one.id for one in workflows.all()))
    return found
