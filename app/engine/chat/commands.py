"""The commands of chats: send, queue, answer, retry, branch; `engine.chats` for the faces.

Also those on a chat's summaries (ask for one, edit it, use it or not, pin what is to be sent as it is;
`engine.summaries`), and the checks of what users type, which groups and workflows use as well: texts, titles,
answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from app.core import message as core_message
from app.core import session as core_session
from app.core.criteria import criteria_of
from app.core.definitions import Agent
from app.core.errors import BadInput, NotFound
from app.core.frozen import Frozen
from app.core.ids import new_id, utc_now
from app.core.message import DENY_BECAUSE, Consent, Message, Prompt, PromptReason, PromptType, Role, read_form
from app.core.provider import FactSource
from app.core.session import OF_FOLDER, AgentMode, AnswerChoice, Chat, QueuedMessage, Reason, Status, at_limit
from app.core.settings import HistoryLength, RunLimits
from app.core.texts import clean_text, trimmed, visible
from app.core.tool import is_object
from app.engine.chat.run import close_turns, model_for, open_questions, plan_at, show_head, user_message
from app.engine.chat.titles import MAX_TITLE, title_of
from app.engine.drafts import Drafts
from app.engine.history import extract, limit_for, turns_to_replace
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import AgentTurn, Attempt, history_of, next_lead, root_turn
from app.engine.runner import Sessions, check_open
from app.engine.turns.context import Services
from app.engine.turns.turn_tree import measured, summary_message

MAX_TEXT = 400_000
MAX_REASON = 2_000
MODES = (AgentMode.DEFAULT, AgentMode.SETTINGS)


def begun_with(
    message: Message, folder: str, asked_by: str, done_means: Sequence[str], **chat: Any
) -> dict[str, Any]:
    """Return what a session that begins with a message has, and its `chat` with these fields.
    Raises BadInput for unfit criteria.
    """
    title, at = title_of(message.content, message.attachments), message.created_at
    begun: dict[str, Any] = {"id": new_id(), "title": title, "status": Status.RUNNING, "folder": folder}
    begun |= {"created_at": at, "updated_at": at, "asked_by": asked_by, "criteria": criteria_of(done_means)}
    return {**begun, "chat": Chat(budget_from=message.id, **chat)}


def checked_text(text: str, attachments: core_message.Attachments) -> str:
    """Return a text as it is kept. Raises BadInput where there is nothing in it, or too much."""
    text = trimmed(clean_text(text))
    if not text and not attachments:
        raise BadInput("text_empty")
    if len(text) > MAX_TEXT:
        raise BadInput("text_too_long", characters=len(text), most=MAX_TEXT)
    return text


def checked_mode(mode: str) -> str:
    """Return a mode of assistants. Raises BadInput for an unknown one."""
    if mode not in MODES:
        raise BadInput("unknown_mode", mode=mode[:MAX_TITLE], modes=", ".join(MODES))
    return mode


def answers_of(prompt: Prompt) -> Sequence[str]:
    """Return the answers that an approval takes, the ones that last least first."""
    if prompt.reason in (PromptReason.AGENT_ASKS, *OF_FOLDER, PromptReason.ADDRESS):
        own = (f"{core_message.AGENT_OPTION}{place}" for place in range(1, len(prompt.kinds) + 1))
        return [Consent.ALLOW, *own, Consent.DENY]
    if prompt.reason == PromptReason.AGENT_WORKS:
        return [Consent.ALLOW, Consent.ALWAYS, Consent.FOREVER, Consent.DENY]
    if not prompt.consent or prompt.reason != PromptReason.TOOL:
        # Only a tool of a server can be recognised for good: its consent says exactly what it was.
        return [Consent.ALLOW, Consent.ALWAYS, Consent.DENY]
    reading = (Consent.ALWAYS_READING, Consent.FOREVER_READING)
    return [consent for consent in Consent if prompt.reads or consent not in reading]


def lasting_answers(prompt: Prompt) -> list[str]:
    """Return the answers to an approval that are more than for this once, or an external agent's own."""
    return [answer for answer in answers_of(prompt) if answer not in (Consent.ALLOW, Consent.DENY)]


def takes_reason(prompt: Prompt) -> bool:
    """Return whether denying can say why: to an assistant, whose tool then ends so, not to a program."""
    return prompt.reason not in (PromptReason.AGENT_ASKS, PromptReason.AGENT_WORKS)


def fitting_answer(prompt: Prompt, answer: str) -> str:
    """Return an answer as its question takes it. Raises BadInput that says what would fit."""
    answer = clean_text(answer).strip()
    if not answer:
        raise BadInput("text_empty")
    if prompt.type == PromptType.APPROVAL and answer.startswith(DENY_BECAUSE) and takes_reason(prompt):
        reason = answer.removeprefix(DENY_BECAUSE).strip()[:MAX_REASON]
        return f"{DENY_BECAUSE}{reason}" if reason else Consent.DENY
    if prompt.type == PromptType.APPROVAL and answer not in (fitting := answers_of(prompt)):
        raise BadInput("answer_unfit", answers=", ".join(fitting))
    if prompt.type == PromptType.FORM:
        return _fitting_form(prompt, answer)
    if prompt.type == PromptType.YESNO and (yes := core_message.means_yes(answer)) is not None:
        return "yes" if yes else "no"
    if prompt.type == PromptType.OPTIONS and answer.isdecimal() and 1 <= int(answer) <= len(prompt.options):
        return answer if answer in prompt.options else prompt.options[int(answer) - 1]
    return answer


def _fitting_form(prompt: Prompt, answer: str) -> str:
    """Return the answer to a form as JSON. Raises BadInput that names a field that does not fit."""
    values = read_form(answer, prompt.fields)
    if values is None:
        raise BadInput("form_unread", fields=", ".join(visible(item.key) for item in prompt.fields))
    for field in prompt.fields:
        if core_message.problem_of(field, values.get(field.key, ())):
            raise BadInput("form_unfit", field=field.label)
    return core_message.form_text(values)


def answer_words(prompt: Prompt, yes: str = "yes", no: str = "no", hidden: str = core_message.HIDDEN) -> str:
    """Return the answer to a question as the user gave it; of a form each label with its value.

    Yes, no and what is hidden are said in these words.
    """
    if prompt.type == PromptType.APPROVAL:
        return f"{Consent.DENY}: {prompt.denied_because}" if prompt.denied_because else prompt.answer
    if prompt.type != PromptType.FORM:
        return prompt.answer
    values = read_form(prompt.answer, prompt.fields) or {}
    lines = []
    for field in prompt.fields:
        labels = dict(zip(field.options, field.labels, strict=False))
        if field.hidden:
            labels = {core_message.HIDDEN: hidden}
        elif field.kind == core_message.FieldKind.YESNO:
            labels = {"yes": yes, "no": no}
        said = ", ".join(labels.get(item, item) for item in values.get(field.key, ()))
        if said:
            lines.append(f"{field.label}: {said}")
    return "\n".join(lines) or "–"


_IN_SESSION = (Consent.ALWAYS, Consent.ALWAYS_READING, Consent.ALWAYS_SERVER)
# Where an answer stands: in the question's turn.
_PLACE = ("turn_id", "parent_turn_id", "parent_call_id")
_FOR_GOOD = (Consent.FOREVER, Consent.FOREVER_READING, Consent.FOREVER_SERVER)


@dataclass(eq=False, repr=False)
class Chats:
    """The commands of chats; all raise BadInput, NotFound or StorageError in words."""

    _sessions: Sessions
    _directory: AgentDirectory
    _prompts: Prompts
    _language: Callable[[], str]
    _drafts: Drafts

    async def start(
        self,
        assistant_id: str,
        text: str,
        attachments: core_message.Attachments = (),
        mode: str = AgentMode.DEFAULT,
        effort: str = "",
        folder: str = "",
        asked_by: str = "",
        provider: str = "",
        model: str = "",
        once: bool = False,
        *,
        done_means: Sequence[str] = (),
        **own: Any,
    ) -> str:
        """Start a chat and return its id; effort and model are the assistant's own where empty.

        With `once` the model answers the first message alone. `own` are fields of its Chat: limits, a checked
        folder and what is always allowed there.
        """
        self._check_model(provider, model)
        agent = self._agent(assistant_id)
        message = user_message(checked_text(text, attachments), attachments, "", by=asked_by)
        own |= {"assistant_id": agent.id, "assistant_name": agent.name}
        own |= {"mode": checked_mode(mode), "language": self._language(), "effort": effort}
        chosen = {"provider": provider, "model": model}
        own |= {"choice": model_for(message, **chosen)} if once else chosen
        session = core_session.ChatSession(**begun_with(message, folder, asked_by, done_means, **own))
        return await self._sessions.start(session, message)

    async def send(
        self,
        session_id: str,
        text: str,
        attachments: core_message.Attachments = (),
        *,
        by: str = "",
        provider: str = "",
        model: str = "",
    ) -> None:
        """Send a text: it answers the question that waits, or is queued while the assistant is busy.

        It is also queued behind a message that the user is still editing. `by` is the program that says it,
        "" for the user; it answers no question. A model is for the answer to it alone. Raises BadInput where
        a question waits for a text.
        """
        self._check_model(provider, model)
        live = await self._sessions.open_chat(session_id)
        text = checked_text(text, attachments)
        question = next((msg for msg in open_questions(live) if msg.prompt and msg.prompt.takes_text), None)
        if question is not None and by:
            raise BadInput("only_user_answers", title=live.session.title)
        if question is not None and not attachments:
            self._answer_all(live, (question,), text)
        elif live.session.workflow is not None:
            self._add_to_work(live, text, attachments, by)
        elif live.session.status in (Status.RUNNING, Status.WAITING) or self._holds_next(live):
            queued = QueuedMessage(
                id=new_id(), text=text, attachments=attachments, by=by, provider=provider, model=model
            )
            self._change(live, queue=(*live.chat_session.chat.queue, queued))
        else:
            await self._say(live, text, attachments, by=by, model=(provider, model))

    # The queue

    async def edit_queued(self, session_id: str, queued_id: str, text: str) -> None:
        """Change a queued message."""
        live = await self._sessions.open_chat(session_id)
        queued = _queued(live, queued_id)
        changed = replace(queued, text=checked_text(text, queued.attachments))
        queue = live.chat_session.chat.queue
        self._change(live, queue=tuple(changed if message is queued else message for message in queue))

    async def send_queued(self, session_id: str) -> None:
        """Send a queued message that only waited for the end of its editing."""
        live = await self._sessions.open_chat(session_id)
        idle = live.session.status == Status.IDLE and not live.session.reason
        if idle and live.chat_session.chat.queue and not self._holds_next(live):
            self._sessions.run(live)

    async def remove_queued(self, session_id: str, queued_id: str) -> None:
        """Remove a message from the queue."""
        live = await self._sessions.open_chat(session_id)
        queued = _queued(live, queued_id)
        self._change(live, queue=tuple(item for item in live.chat_session.chat.queue if item is not queued))

    async def move_queued(self, session_id: str, queued_id: str, place: int) -> None:
        """Move a queued message to another place, counted from 0."""
        live = await self._sessions.open_chat(session_id)
        queued = _queued(live, queued_id)
        rest = [message for message in live.chat_session.chat.queue if message is not queued]
        place = max(0, min(place, len(rest)))
        self._change(live, queue=(*rest[:place], queued, *rest[place:]))

    async def send_now(self, session_id: str, queued_id: str) -> None:
        """Stop the running turn, keep its text, and send a queued message at once."""
        live = await self._sessions.open_conversation(session_id)
        _queued(live, queued_id)
        await self._sessions.interrupt(live)
        queued = _queued(live, queued_id)
        rest = tuple(message for message in live.chat_session.chat.queue if message is not queued)
        model = (queued.provider, queued.model)
        await self._say(live, queued.text, queued.attachments, by=queued.by, model=model, queue=rest)

    # Questions

    async def answer(
        self, session_id: str, message_id: str, answer: str, arguments: str | None = None
    ) -> None:
        """Answer a question as the user; an approval with a Consent. The innermost turn goes on first.

        `arguments` replace those of an allowed call, as the JSON text of an object.
        """
        live = await self._sessions.open_to_change(session_id)
        question = _question(live, message_id)
        if arguments is not None:
            question = self._with_arguments(live, question, arguments)
        await self._keep_permission(question, answer)
        self._answer_all(live, (question,), answer)

    async def answer_calls(self, session_id: str, message_ids: Sequence[str], answer: str) -> None:
        """Answer several approvals at once, all with allow or all with deny."""
        live = await self._sessions.open_to_change(session_id)
        self._answer_all(live, [_question(live, id_) for id_ in message_ids], answer)

    async def _keep_permission(self, question: Message, answer: str) -> None:
        """Save a permission that outlasts the session, before the call it is given with runs."""
        prompt = question.prompt
        if prompt is not None and prompt.type == PromptType.APPROVAL and answer in _FOR_GOOD:
            if prompt.reason == PromptReason.AGENT_WORKS:
                await self._directory.let_work(prompt.consent)
                return
            await self._directory.permit(self._directory.covered_by(prompt, Consent(answer)))

    async def dismiss(self, session_id: str, message_id: str) -> None:
        """Skip a question: the assistant that asked goes on without an answer."""
        live = await self._sessions.open_to_change(session_id)
        live.finish_message(_question(live, message_id).dismissed(), **_running(live))
        self._go_on(live)

    def needs_you(self) -> list[tuple[str, Message]]:
        """Return the open questions of all open sessions, as (session id, question)."""
        known = (live for live in self._sessions.all_live() if live.session.chat or live.session.debate)
        return [(live.id, question) for live in known for question in open_questions(live)]

    # Versions

    async def retry(
        self, session_id: str, message_id: str, *, provider: str = "", model: str = "", effort: str = ""
    ) -> None:
        """Take the turn of a message again as a new version; after a user's message, make a new answer.

        A model or an effort is for that answer alone.
        """
        self._check_model(provider, model)
        live = await self._sessions.open_conversation(session_id)
        first = live.turns.said(live.turns.root(found_message(live, message_id).turn_id))[0]
        await self._sessions.interrupt(live)
        head = first.turn_id if first.role == Role.USER else first.follows or ""
        if not head:
            raise BadInput("nothing_to_retry")
        chosen = AnswerChoice(turn_id=new_id(), follows=head, provider=provider, model=model, effort=effort)
        choice = chosen if provider or effort else None
        chat = replace(live.chat_session.chat, head=head, budget_from=new_id(), choice=choice)
        live.change(chat=chat, plan=plan_at(live, head))
        self._sessions.run(live)

    def usual_turn(self, live: LiveSession, message_id: str) -> AgentTurn:
        """Return the turn that a plain retry would begin: who answers, with which model and effort."""
        message = found_message(live, message_id)
        said_by_user = message.role == Role.USER
        agent_id = live.chat_session.chat.assistant_id if said_by_user else message.author.id
        provider, _, model = message.model.partition("/")
        # An orchestrator is nobody's assistant: it answers with its group's model again.
        leader = Agent(id=agent_id, name=message.author.name, provider=provider, model=model)
        return root_turn(self._directory.agent(agent_id) or leader, live, self._directory)

    async def edit(
        self, session_id: str, message_id: str, text: str, attachments: core_message.Attachments | None = None
    ) -> None:
        """Send another text in place of a message, as a new version, and have it answered."""
        live = await self._sessions.open_conversation(session_id)
        message = found_message(live, message_id)
        if message.role != Role.USER or message.follows is None:
            raise BadInput("not_your_message")
        kept = message.attachments if attachments is None else attachments
        text = checked_text(text, kept)
        await self._sessions.interrupt(live)
        await self._say(live, text, kept, follows=message.follows)

    async def continue_from(self, session_id: str, message_id: str) -> None:
        """Continue an answer that was cut; from any other message, continue without what came after it."""
        live = await self._sessions.open_conversation(session_id)
        message = found_message(live, message_id)
        turn_id = live.turns.root(message.turn_id)
        await self._sessions.interrupt(live)
        show_head(live, turn_id)
        if message.role == Role.ASSISTANT and (message.state != "done" or message.note):
            await self._say(live, self._prompts.line(live.session.language, "assistant", "continue"), ())

    async def choose_version(self, session_id: str, turn_id: str) -> None:
        """Show another version of a turn, with what last followed it."""
        live = await self._sessions.open_conversation(session_id)
        if not live.turns.said(turn_id):
            raise NotFound("message_not_found", message=turn_id)
        await self._sessions.interrupt(live)
        show_head(live, live.turns.latest_leaf(turn_id))

    # Assistant, mode, title

    async def stop_turn(self, session_id: str, turn_id: str) -> None:
        """Stop one sub-agent; its caller is told and goes on."""
        live = await self._sessions.open_to_change(session_id)
        messages = live.turns.said(turn_id)
        if not messages or messages[0].parent_turn_id is None:
            raise NotFound("message_not_found", message=turn_id)
        run = self._sessions.running(live.id)
        if run is not None and run.stop_turn(turn_id):
            return
        close_turns(live, turn_id)
        parent, call_id = messages[0].parent_turn_id, messages[0].parent_call_id
        close_turns(live, parent, only_call=call_id)
        live.change(**_running(live))
        self._go_on(live)

    async def choose_assistant(self, session_id: str, assistant_id: str) -> None:
        """Let another assistant answer from now on, with its own model."""
        live = await self._open_alone(session_id)
        agent = self._agent(assistant_id)
        self._change(live, assistant_id=agent.id, assistant_name=agent.name, provider="", model="")
        await self._directory.attach(agent)

    async def choose_model(self, session_id: str, provider: str, model: str) -> None:
        """Let another model answer from now on; two empty texts are for that of the assistant."""
        self._check_model(provider, model)
        self._change(await self._open_alone(session_id), provider=provider, model=model)

    async def choose_mode(self, session_id: str, mode: str) -> None:
        """Switch a chat of any kind to settings mode, also for turns that have begun, or back."""
        self._change(await self._sessions.open_chat(session_id), mode=checked_mode(mode))

    async def choose_memory(self, session_id: str, *, on: bool) -> None:
        """Have the notes told in a chat of any kind, and new ones proposed there, or not."""
        self._change(await self._sessions.open_chat(session_id), forgetful=not on)

    async def choose_effort(self, session_id: str, effort: str) -> None:
        """Choose the effort of all who speak in a chat of any kind; "" for their own."""
        self._change(await self._sessions.open_chat(session_id), effort=effort)

    async def choose_limits(self, session_id: str, limits: RunLimits | None) -> None:
        """Choose how far the runs of a chat of any kind go, None for as far as the settings say."""
        self._change(await self._sessions.open_chat(session_id), limits=limits)

    async def rename(self, session_id: str, title: str) -> None:
        """Rename a session of any kind."""
        live = await self._sessions.open(session_id)
        title = " ".join(clean_text(title).split())[:MAX_TITLE]
        if not title:
            raise BadInput("title_empty")
        live.change(title=title)

    async def resume(self, live: LiveSession) -> None:
        """Resume a paused chat, after a limit or the last check of its criteria with as much again.
        Where its run was over it is told to continue.
        """
        if live.session.status in (Status.RUNNING, Status.WAITING, Status.IDLE):
            return
        if at_limit(live.session) and not core_session.main_code(live.session.reason).startswith("budget_"):
            await self._say(live, self._prompts.line(live.session.language, "assistant", "continue"), ())
            return
        if at_limit(live.session) or live.session.reason == Reason.CRITERIA_UNMET:
            self._change(live, budget_from=new_id())
        self._sessions.run(live)

    def _holds_next(self, live: LiveSession) -> bool:
        """Say whether nothing goes on because the next message of the queue is being edited."""
        queue = live.chat_session.chat.queue
        idle = live.session.status == Status.IDLE and not live.session.reason
        return idle and bool(queue) and self._drafts.holds(live.id, queue[0].id)

    def _add_to_work(self, live: LiveSession, text: str, files: core_message.Attachments, by: str) -> None:
        """Add a message for steps that begin from now on; the last begin again if all are done."""
        turn_id, done = live.turns.work_turn, live.session.status == Status.COMPLETED
        if not turn_id:
            raise BadInput("workflow_asks_nothing", title=live.session.title)
        live.finish_message(user_message(text, files, live.messages[0].turn_id, by=by, turn_id=turn_id))
        if done:
            self._change(live, budget_from=new_id())
            self._sessions.run(live)

    async def _open_alone(self, session_id: str) -> LiveSession:
        """Return a chat with one assistant. Raises BadInput for a group, which leads itself."""
        live = await self._sessions.open_conversation(session_id)
        if live.session.group is not None:
            raise BadInput("group_leads")
        return live

    def _check_model(self, provider: str, model: str) -> None:
        """Raise BadInput where a model is no model of a provider that is there; two empty texts are fine."""
        if bool(provider) != bool(model):
            raise BadInput("assistant_model")
        if provider and not self._directory.has_provider(provider):
            raise BadInput("provider_not_found", provider=provider)

    def _agent(self, assistant_id: str) -> Agent:
        agent = self._directory.agent(assistant_id)
        if agent is None:
            raise NotFound("assistant_not_found", assistant=assistant_id)
        if not agent.enabled:
            raise BadInput("assistant_disabled", assistant=agent.name)
        return agent

    def _change(self, live: LiveSession, **fields: object) -> None:
        live.change(chat=replace(live.chat_session.chat, **fields))  # type: ignore[arg-type]

    async def _say(
        self,
        live: LiveSession,
        text: str,
        attachments: core_message.Attachments,
        *,
        follows: str | None = None,
        by: str = "",
        model: tuple[str, str] = ("", ""),
        **fields: object,
    ) -> None:
        self._sessions.check(live.session)
        close_turns(live, live.chat_session.chat.head)
        chat = live.chat_session.chat
        after = chat.head if follows is None else follows
        message = user_message(text, attachments, after, by=by)
        choice = model_for(message, *model)
        fields = {"head": message.turn_id, "budget_from": message.id, "choice": choice, **fields}
        chat, plan = replace(chat, **fields), plan_at(live, after)  # type: ignore[arg-type]
        live.finish_message(message, chat=chat, plan=plan)
        self._sessions.run(live)

    def _with_arguments(self, live: LiveSession, question: Message, arguments: str) -> Message:
        """Replace the arguments of the call that an approval is about, before it is allowed."""
        if question.prompt is None or question.prompt.type != PromptType.APPROVAL or not is_object(arguments):
            raise BadInput("arguments_unfit")
        for message in live.turns.said(question.turn_id):
            calls = tuple(
                replace(call, arguments=arguments) if call.id == question.tool_call_id else call
                for call in message.tool_calls
            )
            if calls != message.tool_calls:
                live.finish_message(replace(message, tool_calls=calls))
        return replace(question, prompt=replace(question.prompt, arguments=arguments))

    def _answer_all(self, live: LiveSession, questions: Sequence[Message], answer: str) -> None:
        written: list[Message] = []
        always = live.session.always
        for question in questions:
            prompt = question.prompt
            assert prompt is not None
            fitting = fitting_answer(prompt, answer)
            answered = replace(prompt, answer=core_message.without_hidden(fitting, prompt.fields))
            if answered.answer != fitting:
                live.hidden_answers[question.id] = fitting
            place = {name: getattr(question, name) for name in _PLACE}
            said = user_message(answer_words(answered), (), question.follows, answers=question.id, **place)
            written += [said, replace(question, prompt=replace(answered, answered_by=said.id))]
            if fitting in _IN_SESSION and prompt.type == PromptType.APPROVAL:
                always += self._directory.covered_by(prompt, Consent(fitting))
            elif fitting == Consent.ALLOW and prompt.reason in OF_FOLDER:
                always += (prompt.reason,)
        fields = _running(live)
        if always != live.session.always:
            fields |= live.session.allowing(always)
        live.finish_messages(written, **fields)
        self._go_on(live)

    def _go_on(self, live: LiveSession) -> None:
        """Tell the run that an answer came, or run the session again where it has ended.

        A run that has just stopped to wait, and still saves that, goes on by itself.
        """
        run = self._sessions.running(live.id)
        if run is not None:
            run.answered()
        elif live.session.status == Status.RUNNING:
            self._sessions.run(live)


def _running(live: LiveSession) -> dict[str, object]:
    """Return the change of status of a waiting or stopped session when an answer comes.
    It belongs in the answer's batch: after a crash the session then goes on.
    """
    goes_on = live.session.status in (Status.WAITING, Status.STOPPED)
    return {"status": Status.RUNNING, "reason": ""} if goes_on else {}


def _queued(live: LiveSession, queued_id: str) -> QueuedMessage:
    found = next((queued for queued in live.chat_session.chat.queue if queued.id == queued_id), None)
    if found is None:
        raise NotFound("queued_not_found")
    return found


def found_message(live: LiveSession, message_id: str) -> Message:
    """Return a message as last written. Raises NotFound."""
    try:
        return live.turns.messages[message_id]
    except KeyError:
        raise NotFound("message_not_found", message=message_id) from None


def _question(live: LiveSession, message_id: str) -> Message:
    message = found_message(live, message_id)
    if message.prompt is None:
        raise BadInput("not_a_question")
    if not message.asks:
        raise BadInput("already_answered")
    return message


class ContextUse(Frozen, kw_only=False):
    """How many tokens a chat sends now, from how many on it is summarised, and how many its model can read.

    `usd` is what sending them costs, None where the price is not known. `own_window` is what the user has
    said that the `model` of the `provider` can read, 0 if nothing.
    """

    tokens: int
    limit: int
    window: int
    usd: float | None = None
    provider: str = ""
    model: str = ""
    own_window: int = 0


class ChatStart(StrEnum):
    """What of a long imported chat is sent: a summary first, all of it, or its last part."""

    SUMMARY = "summary"
    ALL = "all"
    LAST_PART = "last_part"


class Summaries:
    """The commands of summaries; all raise BadInput, NotFound or StorageError in words."""

    def __init__(self, sessions: Sessions, services: Services) -> None:
        self._sessions = sessions
        self._services = services

    def use_of(self, session_id: str) -> ContextUse | None:
        """Return how much of its model's window a chat or an orchestrator uses; None if unknown."""
        live, services = self._sessions.live(session_id), self._services
        turn = self._next_turn(live) if live else None
        if live is None or turn is None:
            return None
        directory, model = services.directory, turn.agent_model
        request = services.request(turn, live, Attempt())
        facts = services.models.known_facts(model.provider, model.model)
        tokens = services.count.of(session_id, request)
        usd = facts.prices.read * tokens if facts.prices else None
        limit = limit_for(facts, live.chat_session.chat, directory.settings())
        own = facts.window if facts.source == FactSource.USER else 0
        return ContextUse(tokens, limit, facts.window, usd, model.provider, model.model, own)

    def writer_of(self, session_id: str) -> str:
        """Return the name of the model that writes the summaries of a session, "" where there is none."""
        live = self._sessions.live(session_id)
        turn = self._next_turn(live) if live is not None else None
        if live is None or turn is None:
            return ""
        return self._services.directory.helper_for(live, turn.agent_model).model

    def to_choose(self, session_id: str) -> ContextUse | None:
        """Return how long an imported chat is if the user must choose what of it is sent, else None."""
        live = self._sessions.live(session_id)
        if live is None or not live.session.source or live.session.chat is None or live.session.chat.history:
            return None
        use = self.use_of(session_id)
        return use if use is not None and use.tokens > use.limit else None

    async def choose(self, session_id: str, choice: str) -> None:
        """Choose what of a long imported chat is sent from now on: a ChatStart."""
        live = await self._sessions.open_conversation(session_id)
        length = self._services.directory.settings().history
        if choice == ChatStart.LAST_PART:
            self._extract(live)
        elif choice == ChatStart.ALL:
            length = HistoryLength.ALL
        live.change(chat=replace(live.chat_session.chat, history=length))

    def _extract(self, live: LiveSession) -> None:
        """Put an extract in place of all but the last part of a chat."""
        services, chat, turn = self._services, live.chat_session.chat, self._next_turn(live)
        if turn is None:
            return
        words = services.prompts.lines(chat.language, "assistant")
        turns = measured(turn, live, history_of(turn, live, words), services.count)
        facts = services.models.known_facts(turn.agent_model.provider, turn.agent_model.model)
        place = turns_to_replace(turns, limit_for(facts, chat, services.directory.settings()))
        covered = turns[:place]
        text = extract([message for item in covered for message in item.messages], "", words["quoted"])
        if text:
            of = {"note": core_message.SummaryNote.EXTRACT, "replaces": sum(item.tokens for item in covered)}
            live.finish_message(summary_message(turn.author, text, through=covered[-1].turn_id, **of))

    def _next_turn(self, live: LiveSession) -> AgentTurn | None:
        """Return the next turn of a chat or group; None in workflows and where nobody can answer."""
        session, directory = live.session, self._services.directory
        agent = directory.agent(session.chat.assistant_id) if session.chat else None
        if session.group is not None:
            turn = next_lead(live, directory, self._services.prompts)
        elif agent is not None and session.workflow is None:
            turn = root_turn(agent, live, directory)
        else:
            return None
        return None if turn.agent_model.guided else turn

    async def make(self, session_id: str) -> None:
        """Summarise a chat or a group's work now, whatever its length."""
        live = await self._sessions.open_conversation(session_id)
        if live.session.status != Status.IDLE:
            raise BadInput("summary_not_now", title=live.session.title)
        self._sessions.check(live.session)
        live.change(chat=replace(live.chat_session.chat, summarise=True, budget_from=new_id()))
        self._sessions.run(live)

    async def redo(self, session_id: str, message_id: str) -> None:
        """Put a summary aside and make another one."""
        await self.use(session_id, message_id, used=False)
        await self.make(session_id)

    async def edit(self, session_id: str, message_id: str, text: str) -> None:
        """Use another text in place of a summary, which stays as an earlier version."""
        live = await self._open(session_id)
        before = self._summary(live, message_id)
        text = clean_text(text).strip()
        if not text:
            raise BadInput("summary_empty")
        edited = replace(before, id=new_id(), content=text, note=core_message.SummaryNote.EDITED)
        edited = replace(edited, usage=None, created_at=utc_now())
        unused = {*live.session.unused_summaries, before.id}
        live.finish_message(edited, **live.session.without_summaries(unused))

    async def use(self, session_id: str, message_id: str, *, used: bool) -> None:
        """Use a summary in place of the other ones of the same turns, or do not use it."""
        live = await self._open(session_id)
        summary = self._summary(live, message_id)
        unused = {*live.session.unused_summaries, summary.id}
        if used:
            others = live.turns.summaries(summary.through)
            part = (summary.through_message, summary.agent_id)
            unused |= {other.id for other in others if (other.through_message, other.agent_id) == part}
            unused.discard(summary.id)
        live.change(**live.session.without_summaries(unused))

    async def pin(self, session_id: str, message_id: str, *, pinned: bool) -> None:
        """Send a message word for word from now on, also once a summary stands for it; or no longer."""
        live = await self._open(session_id)
        message = found_message(live, message_id)
        if message.role not in (Role.USER, Role.ASSISTANT) or message.parent_turn_id or not message.ended:
            raise NotFound("message_not_found", message=message_id)
        live.change(**live.session.with_pin(message_id, pinned=pinned))

    async def _open(self, session_id: str) -> LiveSession:
        """Open a session that has summaries or pins to change: a chat, a group, or a debate."""
        live = await self._sessions.open(session_id)
        if live.session.debate is None:
            return await self._sessions.open_conversation(session_id)
        check_open(live)
        return live

    def _summary(self, live: LiveSession, message_id: str) -> Message:
        message = found_message(live, message_id)
        if message.role != Role.SUMMARY or message.note == core_message.SummaryNote.PRUNED:
            raise NotFound("message_not_found", message=message_id)
        return message
