"""The commands of chats, groups and workflows: ask, retry, run a workflow, steer its steps;
how a reply is sent.
"""

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from app.cli import arguments
from app.cli.arguments import AsItLooks, DoneMeans, Files, Folder, SessionId, Text, Typed, amount, whole
from app.cli.command_run import CommandRun, Step, named
from app.cli.printing.chats import ChatPrinter
from app.cli.printing.lines import lines_text, one_line
from app.core.definitions import Agent, Effort, Group
from app.core.errors import BadInput, NotFound
from app.core.files import is_image_file, is_pdf
from app.core.message import (
    AGENT_OPTION,
    DENY_BECAUSE,
    Attachment,
    Consent,
    Message,
    Prompt,
    PromptType,
    form_text,
    read_form,
)
from app.core.session import OF_FOLDER, AgentMode
from app.core.session_files import permission_for
from app.core.settings import RunLimits
from app.core.texts import exact, visible
from app.core.tool import told_of
from app.engine.chat.commands import checked_text
from app.engine.debate.estimates import price_text
from app.engine.export.event_lines import plain
from app.engine.history import look_cost, look_words
from app.engine.library.agents import Readers, look_of
from app.engine.live_session import LiveSession

_SAID = {
    Consent.ALLOW: frozenset((Consent.ALLOW, "yes", "y", "허용", "허락", "네", "예", "응")),
    Consent.ALWAYS: frozenset((Consent.ALWAYS, "항상", "항상 허용")),
    Consent.DENY: frozenset((Consent.DENY, "refuse", "no", "n", "거부", "거절", "아니요", "아니오", "아니")),
}
_ALL = ("all", "모두", "전부")
Minutes = Annotated[int | None, Typed("--budget-minutes", type=whole, metavar="N")]
Calls = Annotated[int | None, Typed("--budget-calls", type=whole, metavar="N")]
Usd = Annotated[float | None, Typed("--budget-usd", "--max-usd", type=amount, metavar="X")]
InFolder = Annotated[str, Typed("--in", metavar="FOLDER", type=arguments.absolute)]
AllowFiles = Annotated[tuple[str, ...], Typed("--allow-file", text="allow_file", metavar="NAME")]
_EFFORTS = [effort for effort in Effort if effort != Effort.AUTO]


async def ask(
    run: CommandRun,
    assistant: Annotated[str, Typed(text="who", metavar="WHO")],
    text: Text,
    session: Annotated[str, Typed("--session", metavar="ID")] = "",
    effort: Annotated[str, Typed("--effort", choices=_EFFORTS)] = "",
    mode: Annotated[str, Typed("--mode", text="ask_mode", choices=AgentMode)] = "",
    folder: Folder = "",
    files: Files = (),
    as_it_looks: AsItLooks = False,
    *,
    done_means: DoneMeans = (),
    budget_minutes: Minutes = None,
    budget_calls: Calls = None,
    budget_usd: Usd = None,
    in_folder: InFolder = "",
    allow_files: AllowFiles = (),
) -> int:
    """Say something to an assistant or a group, in a new session or in an existing one."""
    engine, folder = run.engine, run.folder_id(folder)
    limits = _limits(run, budget_minutes, budget_calls, budget_usd)
    if session and in_folder:
        raise BadInput("folder_only_new")
    where = await _where(run, in_folder, allow_files)
    who = await who_of(run, assistant)
    attachments = await attachments_of(run, files, who, as_it_looks=as_it_looks)
    if not session:

        async def start() -> str:
            await run.warm_up()
            begin = engine.groups.start if isinstance(who, Group) else engine.chats.start
            how = mode or AgentMode.DEFAULT
            where.update(effort=effort, folder=folder, done_means=done_means, limits=limits)
            return await begin(who.id, text, attachments, how, **where)

        return await run.follow(start, ChatPrinter(run.texts))
    live = await run.open(session)
    if mode:
        await engine.chats.choose_mode(live.id, mode)
    if effort:
        await engine.chats.choose_effort(live.id, effort)
    if done_means:
        await engine.criteria.choose(live.id, done_means)
    if limits:
        await engine.chats.choose_limits(live.id, limits)
    return await run.go_on(live, send_step(run, live, who, text, attachments))


def _limits(run: CommandRun, minutes: int | None, calls: int | None, usd: float | None) -> RunLimits | None:
    """Return the limits that were given, the others as the settings have them; None where none was."""
    given = {"minutes": minutes, "calls": calls, "usd": usd}
    chosen = {name: value for name, value in given.items() if value is not None}
    return replace(run.engine.settings().limits, **chosen) if chosen else None  # type: ignore[arg-type]


async def _where(run: CommandRun, folder: str, files: Sequence[str]) -> dict[str, Any]:
    """Return in which folder of the user's a session works, and what is allowed there: naming it, and hidden
    files in it, allows reading and writing.

    Raises BadInput.
    """
    if files and not folder:
        raise BadInput("usage_missing", what="--in", help=f"moot {run.arguments.command} --help")
    if not folder:
        return {"always": run.allowed}
    always = (*OF_FOLDER, *map(permission_for, files), *run.allowed)
    return {"chosen_folder": await run.engine.session_files.checked_folder(folder), "always": always}


def send_step(
    run: CommandRun, live: LiveSession, who: Agent | Group, text: str, files: tuple[Attachment, ...] = ()
) -> Step:
    """Return how a text is sent to an assistant or a group in an existing session.

    Raises BadInput for somebody who is not in the session.
    """
    chats, caller = run.engine.chats, run.arguments.caller
    if isinstance(who, Group) or live.session.group is not None:
        said = _addressed(live, who, text)
        return lambda: chats.send(live.id, said, files, by=caller)
    chat = live.chat_session.chat

    async def send() -> None:
        if chat.assistant_id != who.id:
            await chats.choose_assistant(live.id, who.id)
        await chats.send(live.id, text, files, by=caller)

    return send


async def attachments_of(
    run: CommandRun, files: Sequence[str], who: Readers, *, as_it_looks: bool, pictures: bool = True
) -> tuple[Attachment, ...]:
    """Return what goes with a text: the files that were given, read for `who`, without these only as text,
    or PDF files as they look. Raises BadInput for one that cannot be read, or that the model does not take.
    """
    attachments = [*run.attachments]
    for path in files:
        if pictures and is_image_file(Path(path)):
            await run.engine.look_for_servers()
            if who is None or not any(each.images for each in run.engine.models_for(who)):
                raise BadInput("attachment_no_images", name=path)
            with named(path):
                attachments.append(await run.engine.files.picture(Path(path)))
        elif as_it_looks and is_pdf(Path(path)):
            await run.engine.look_for_servers()
            attachments.append(await _as_it_looks(run, path, who))
        else:
            attachments.append((await run.read_file(path)).attachment())
    return tuple(attachments)


async def _as_it_looks(run: CommandRun, path: str, who: Readers) -> Attachment:
    """Read a PDF file to be sent as it looks; say so if only its first pages are seen. Raises BadInput."""
    if who is None:
        raise BadInput("pdf_not_seen", name=path)
    await run.engine.connections.learn_about(run.engine.models_for(who))
    models = run.engine.models_for(who)
    look = look_of(models)
    if not look:
        raise BadInput("pdf_not_seen", name=path)
    with named(path):
        file = await run.engine.files.as_it_looks(Path(path), look)
    if 0 < file.shown < file.pages:
        words = run.texts("chat.file.images.cut", name=path, shown=file.shown, pages=file.pages)
        await run.out.complain(words)
    if cost := look_cost(file.attachment, models, run.engine.connections.known_facts):
        await run.out.complain(look_words(cost, path, run.texts))
    return file.attachment


async def who_of(run: CommandRun, typed: str) -> Agent | Group:
    """Return the assistant or group that was named; if both have the name, warn and return the assistant."""
    group: Group | None = None
    with contextlib.suppress(NotFound):
        group = run.engine.groups.find(typed)
    try:
        agent = run.engine.assistants.find(typed)
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


def speaker_of(run: CommandRun, live: LiveSession) -> Agent | Group | None:
    """Return whose models read what is sent to a session, None where they are several or gone."""
    session = live.session
    with contextlib.suppress(NotFound):
        if session.group is not None:
            return run.engine.groups.find(session.group.id)
        if session.workflow is None:
            return run.engine.assistants.find(live.chat_session.chat.assistant_id)
    return None


def check_no_files(files: Sequence[str]) -> None:
    """Raise BadInput where files were given to what takes none."""
    if files:
        raise BadInput("files_not_here", name=files[0])


async def answering(run: CommandRun, live: LiveSession, text: str, files: Sequence[str]) -> Step | None:
    """Return how a reply answers the oldest open question of a session, None where there is none.

    The user is asked for what is hidden of a form.
    """
    chats = run.engine.chats
    question = open_question(run, live)
    if question is None:
        return None
    check_no_files(files)
    if question.prompt is None or question.prompt.type != PromptType.APPROVAL:
        if question.prompt is not None:
            text = await _with_hidden(run, question.prompt, text)
        return lambda: chats.answer(live.id, question.id, text)
    words = text.rsplit(maxsplit=1)
    if len(words) == 2 and words[1].casefold() in _ALL and ":" not in text and question.prompt.joins:
        # The calls of one turn, which were all printed with their arguments.
        together = [call.id for call in live.turns.together(question)]
        each = _approval(words[0])
        return lambda: chats.answer_calls(live.id, together, each)
    answer = _approval(text)
    return lambda: chats.answer(live.id, question.id, answer)


def open_question(run: CommandRun, live: LiveSession) -> Message | None:
    """Return the oldest open question of a session."""
    waiting = (asked for session_id, asked in run.engine.chats.needs_you() if session_id == live.id)
    return min(waiting, key=lambda asked: asked.id, default=None)


async def _with_hidden(run: CommandRun, prompt: Prompt, text: str) -> str:
    """Return the text of a reply with the values of the hidden fields that it leaves out.

    Raises BadInput where the user gives a question up.
    """
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


async def retry(
    run: CommandRun,
    session: SessionId,
    model: Annotated[str, Typed("--model", text="retry_model", metavar="PROVIDER/MODEL")] = "",
    effort: Annotated[str, Typed("--effort", text="retry_effort", choices=_EFFORTS)] = "",
) -> int:
    """Have the last answer of a chat or a group made again, with another model or effort where one is
    given.
    """
    live = await run.open(session)
    provider, _, name = model.partition("/")
    if model and not (provider and name):
        raise BadInput("bad_model", model=model)
    last = live.turns.first(live.chat_session.chat.head)
    if last is None:
        raise BadInput("nothing_to_retry")
    again = run.engine.chats.retry
    step = functools.partial(again, live.id, last.id, provider=provider, model=name, effort=effort)
    return await run.go_on(live, step)


def _approval(text: str) -> str:
    """Return what a word means as the answer to an approval. Raises BadInput that lists the possible
    words.
    """
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


async def propose(
    run: CommandRun,
    text: Annotated[str, Typed(text="work_wanted", metavar="TASK")],
    agree: arguments.Agreed = False,
) -> int:
    """Print the group that a model proposes for a task; with `--yes` it is made."""
    groups, texts = run.engine.groups, run.texts
    await run.warm_up()
    request = groups.proposal(text, run.engine.models_for(None)[0])
    price = price_text(texts, await groups.proposal_price(request))
    await run.out.complain(texts("cli.propose.asks", model=request.model, price=price))
    proposed = await groups.propose(request)
    estimate, group = await groups.price_of(proposed), proposed.definition
    made = (await groups.bring_in(proposed)).id if agree else ""
    members = [plain(each.definition) | {"why": each.why} for each in proposed.members]
    found = {"id": made, "members": members, "dropped": proposed.dropped, "usd": estimate.usd}
    lines = [f"{group.name} · {price_text(texts, estimate)}", group.instructions]
    for each in proposed.members:
        agent = replace(each.definition, description=each.why)
        more = () if agent.id else (", ".join(agent.tools), agent.instructions)
        lines.append(" · ".join((f"- {told_of(agent)}", *more)))
    if proposed.dropped:
        lines.append(texts("propose.dropped", what=", ".join(proposed.dropped)))
    lines.append(texts("propose.made", name=group.name) if made else texts("cli.propose.not_made"))
    return await run.answer(plain(group) | found, lines_text(map(one_line, lines)))


async def workflow(
    run: CommandRun,
    text: Annotated[str, Typed(text="work_wanted", metavar="COMMAND")],
    definition: Annotated[str, Typed("--definition", metavar="ID")] = "",
    done_means: DoneMeans = (),
    budget_minutes: Minutes = None,
    budget_calls: Calls = None,
    budget_usd: Usd = None,
    in_folder: InFolder = "",
    allow_files: AllowFiles = (),
) -> int:
    """Run the workflow that was named, or the one that the text calls for."""
    workflows, text = run.engine.workflows, checked_text(text, ())
    where = await _where(run, in_folder, allow_files)
    if definition:
        wanted = workflows.find(definition)
    else:
        await run.warm_up()
        found = await workflows.classify(text)
        if found is None:
            raise BadInput("workflow_unclear", workflows=", ".join(each.id for each in workflows.all()))
        wanted = found

    async def start() -> str:
        await run.warm_up()
        limits = _limits(run, budget_minutes, budget_calls, budget_usd)
        if not run.arguments.json:
            await run.out.complain(one_line(workflows.who_does_what(wanted, run.texts)))
        return await workflows.start(text, wanted.id, done_means=done_means, limits=limits, **where)

    return await run.follow(start, ChatPrinter(run.texts))


async def step(
    run: CommandRun,
    session: SessionId,
    step: Annotated[str, Typed(text="step_id", metavar="STEP")],
    action: Annotated[str, Typed(choices=("retry", "skip", "accept"))],
) -> int:
    """Retry, skip or accept a step, and follow the workflow from there."""
    workflows = run.engine.workflows
    live = await run.open(session)
    act = {"retry": workflows.retry, "skip": workflows.skip, "accept": workflows.accept}[action]
    return await run.go_on(live, lambda: act(live.id, step))


async def give(
    run: CommandRun,
    session: SessionId,
    step: Annotated[str, Typed(text="step_id", metavar="STEP", nargs="?")] = "",
    *,
    assistant: Annotated[str, Typed(text="give_to", metavar="WHO")],
) -> int:
    """Give a step, or without one the message that waits in a queue, to another assistant,
    and follow the session.
    """
    engine, live = run.engine, await run.open(session)

    async def send() -> None:
        if step:
            await engine.workflows.give(live.id, step, assistant)
        else:
            engine.queues.give(live.id, assistant)

    return await run.go_on(live, send)
