"""The commands of chats: send, queue, answer, retry, branch; `engine.chats` for the faces."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.core.agent import Agent
from app.core.errors import BadInput, NotFound
from app.core.forms import without_hidden
from app.core.ids import new_id
from app.core.message import Attachment, Consent, Message, PromptReason, PromptType, Role
from app.core.reasons import LIMITS, has_ended, reason_code
from app.core.session import (
    AgentMode,
    AnswerChoice,
    Chat,
    ChatSession,
    QueuedMessage,
    Status,
)
from app.core.text import clean_text
from app.core.tool import is_object
from app.engine.chat.input import (
    MAX_TITLE,
    answer_words,
    begun_with,
    checked_mode,
    checked_text,
    fitting_answer,
)
from app.engine.chat.run import close_turns, open_questions, user_message
from app.engine.drafts import Drafts
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.requests.request import AgentTurn, root_turn
from app.engine.sessions import Sessions

_IN_SESSION = (Consent.ALWAYS, Consent.ALWAYS_READING, Consent.ALWAYS_SERVER)
_FOR_GOOD = (Consent.FOREVER, Consent.FOREVER_READING, Consent.FOREVER_SERVER)


class Chats:
    """The commands of chats; all raise BadInput, NotFound or StorageError in words."""

    def __init__(
        self,
        sessions: Sessions,
        directory: AgentDirectory,
        prompts: Prompts,
        language: Callable[[], str],
        drafts: Drafts,
    ) -> None:
        self._sessions = sessions
        self._drafts = drafts
        self._directory = directory
        self._prompts = prompts
        self._language = language

    async def start(
        self,
        assistant_id: str,
        text: str,
        attachments: tuple[Attachment, ...] = (),
        mode: str = AgentMode.DEFAULT,
        effort: str = "",
        folder: str = "",
        asked_by: str = "",
    ) -> str:
        """Start a chat with its first message and return its id; `effort` is the assistant's own where it is empty."""
        agent = self._agent(assistant_id)
        message = user_message(checked_text(text, attachments), attachments, "", by=asked_by)
        chat = Chat(
            assistant_id=agent.id,
            assistant_name=agent.name,
            mode=checked_mode(mode),
            budget_from=message.id,
            language=self._language(),
            effort=effort,
        )
        session = ChatSession(**begun_with(message, folder, asked_by), chat=chat)
        return await self._sessions.start(session, message)

    async def send(
        self, session_id: str, text: str, attachments: tuple[Attachment, ...] = (), *, by: str = ""
    ) -> None:
        """Send a text: it answers the question that waits, or is queued while the assistant is busy.

        It is also queued behind a message that the user is still editing. `by` is the program that says it, "" for the user; it
        answers no question. Raises BadInput where one waits for a text.
        """
        live = await self._sessions.open_chat(session_id)
        text = checked_text(text, attachments)
        question = next(
            (one for one in open_questions(live) if one.prompt and one.prompt.takes_text),
            None,
        )
        if question is not None and by:
            raise BadInput("only_user_answers", title=live.session.title)
        if question is not None and not attachments:
            self._answer_all(live, (question,), text)
        elif live.session.workflow is not None:
            self._add_to_work(live, text, attachments, by)
        elif live.session.status in (Status.RUNNING, Status.WAITING) or self._holds_next(live):
            queued = QueuedMessage(id=new_id(), text=text, attachments=attachments, by=by)
            self._change(live, queue=(*live.chat_session.chat.queue, queued))
        else:
            await self._say(live, text, attachments, by=by)

    # The queue

    async def edit_queued(self, session_id: str, queued_id: str, text: str) -> None:
        """Change a queued message."""
        live = await self._sessions.open_chat(session_id)
        queued = _queued(live, queued_id)
        changed = replace(queued, text=checked_text(text, queued.attachments))
        queue = live.chat_session.chat.queue
        self._change(live, queue=tuple(changed if one is queued else one for one in queue))

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
        self._change(live, queue=tuple(one for one in live.chat_session.chat.queue if one is not queued))

    async def move_queued(self, session_id: str, queued_id: str, place: int) -> None:
        """Move a queued message to another place, counted from 0."""
        live = await self._sessions.open_chat(session_id)
        queued = _queued(live, queued_id)
        rest = [one for one in live.chat_session.chat.queue if one is not queued]
        place = max(0, min(place, len(rest)))
        self._change(live, queue=(*rest[:place], queued, *rest[place:]))

    async def send_now(self, session_id: str, queued_id: str) -> None:
        """Stop the running turn, keep its text, and send a queued message at once."""
        live = await self._sessions.open_conversation(session_id)
        _queued(live, queued_id)
        await self._sessions.stop(live)
        queued = _queued(live, queued_id)
        rest = tuple(one for one in live.chat_session.chat.queue if one is not queued)
        await self._say(live, queued.text, queued.attachments, by=queued.by, queue=rest)

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
        self._answer_all(live, [_question(live, one) for one in message_ids], answer)

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
        question = _question(live, message_id)
        dismissed = question.dismissed()
        live.finish_message(dismissed, **_running(live))
        self._go_on(live)

    def needs_you(self) -> list[tuple[str, Message]]:
        """Return the open questions of all open sessions, as (session id, question)."""
        return [
            (live.id, question)
            for live in self._sessions.all_live()
            if live.session.chat is not None or live.session.debate is not None
            for question in open_questions(live)
        ]

    # Versions

    async def retry(
        self, session_id: str, message_id: str, *, provider: str = "", model: str = "", effort: str = ""
    ) -> None:
        """Take the turn of a message again as a new version; after a user's message, make a new answer.

        A model or an effort is for that answer alone.
        """
        if bool(provider) != bool(model):
            raise BadInput("assistant_model")
        if provider and not self._directory.has_provider(provider):
            raise BadInput("provider_not_found", provider=provider)
        live = await self._sessions.open_conversation(session_id)
        first = live.turns.said(live.turns.root(found_message(live, message_id).turn_id))[0]
        await self._sessions.stop(live)
        head = first.turn_id if first.role == Role.USER else first.follows or ""
        if not head:
            raise BadInput("nothing_to_retry")
        chosen = AnswerChoice(turn_id=new_id(), follows=head, provider=provider, model=model, effort=effort)
        choice = chosen if provider or effort else None
        self._change(live, head=head, budget_from=new_id(), choice=choice)
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
        self, session_id: str, message_id: str, text: str, attachments: tuple[Attachment, ...] | None = None
    ) -> None:
        """Send another text in place of a message, as a new version, and have it answered."""
        live = await self._sessions.open_conversation(session_id)
        message = found_message(live, message_id)
        if message.role != Role.USER or message.follows is None:
            raise BadInput("not_your_message")
        kept = message.attachments if attachments is None else attachments
        text = checked_text(text, kept)
        await self._sessions.stop(live)
        await self._say(live, text, kept, follows=message.follows)

    async def continue_from(self, session_id: str, message_id: str) -> None:
        """Continue an answer that was cut; from any other message, continue without what came after it."""
        live = await self._sessions.open_conversation(session_id)
        message = found_message(live, message_id)
        turn_id = live.turns.root(message.turn_id)
        await self._sessions.stop(live)
        self._change(live, head=turn_id)
        if message.role == Role.ASSISTANT and (message.state != "done" or message.note):
            await self._say(
                live, self._prompts.line(live.chat_session.chat.language, "assistant", "continue"), ()
            )

    async def choose_version(self, session_id: str, turn_id: str) -> None:
        """Show another version of a turn, with what last followed it."""
        live = await self._sessions.open_conversation(session_id)
        if not live.turns.said(turn_id):
            raise NotFound("message_not_found", message=turn_id)
        await self._sessions.stop(live)
        self._change(live, head=live.turns.latest_leaf(turn_id))

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
        """Let another assistant answer from now on."""
        live = await self._sessions.open_conversation(session_id)
        if live.session.group is not None:
            raise BadInput("group_leads")
        agent = self._agent(assistant_id)
        self._change(live, assistant_id=agent.id, assistant_name=agent.name)
        await self._directory.attach(agent)

    async def choose_mode(self, session_id: str, mode: str) -> None:
        """Switch a chat of any kind to settings mode, which also applies to turns that have begun, or back."""
        live = await self._sessions.open_chat(session_id)
        self._change(live, mode=checked_mode(mode))

    async def choose_effort(self, session_id: str, effort: str) -> None:
        """Choose the effort of all who speak in a chat of any kind; "" for their own."""
        live = await self._sessions.open_chat(session_id)
        self._change(live, effort=effort)

    async def rename(self, session_id: str, title: str) -> None:
        """Rename a session of any kind."""
        live = await self._sessions.open(session_id)
        title = " ".join(clean_text(title).split())[:MAX_TITLE]
        if not title:
            raise BadInput("title_empty")
        live.change(title=title)

    async def move(self, session_id: str, folder_id: str) -> None:
        """Put a session of any kind into a folder, "" for none."""
        await self._sessions.move(session_id, folder_id)

    def resume(self, live: LiveSession) -> None:
        """Resume a paused chat; after a limit it gets as much again."""
        if live.session.status in (Status.RUNNING, Status.WAITING, Status.IDLE):
            return
        if reason_code(live.session.reason) in LIMITS:
            self._change(live, budget_from=new_id())
        self._sessions.run(live)

    def _holds_next(self, live: LiveSession) -> bool:
        """Say whether nothing goes on because the next message of the queue is being edited."""
        queue = live.chat_session.chat.queue
        idle = live.session.status == Status.IDLE and not live.session.reason
        return idle and bool(queue) and self._drafts.holds(live.id, queue[0].id)

    def _add_to_work(
        self, live: LiveSession, text: str, attachments: tuple[Attachment, ...], by: str
    ) -> None:
        """Add a message to a running workflow: the steps that begin from now on are told."""
        turn_id = live.turns.work_turn
        if has_ended(live.session) or not turn_id:
            raise BadInput("workflow_asks_nothing", title=live.session.title, session_id=live.id)
        begun = live.messages[0].turn_id
        live.finish_message(user_message(text, attachments, begun, by=by, turn_id=turn_id))

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
        attachments: tuple[Attachment, ...],
        *,
        follows: str | None = None,
        by: str = "",
        **fields: object,
    ) -> None:
        self._sessions.check(live.session)
        chat = live.chat_session.chat
        message = user_message(text, attachments, chat.head if follows is None else follows, by=by)
        fields = {"head": message.turn_id, "budget_from": message.id, **fields}
        live.finish_message(message, chat=replace(chat, **fields))  # type: ignore[arg-type]
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
            answered = replace(prompt, answer=without_hidden(fitting, prompt.fields))
            if answered.answer != fitting:
                live.hidden_answers[question.id] = fitting
            said = replace(
                user_message(answer_words(answered), (), "", answers=question.id),
                turn_id=question.turn_id,
                parent_turn_id=question.parent_turn_id,
                parent_call_id=question.parent_call_id,
                follows=question.follows,
            )
            written += [said, replace(question, prompt=replace(answered, answered_by=said.id))]
            if fitting in _IN_SESSION and prompt.type == PromptType.APPROVAL:
                always += self._directory.covered_by(prompt, Consent(fitting))
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
    """Return the change of status of a waiting session when an answer comes. It belongs in the answer's batch: after a crash
    the session then goes on.
    """
    return {"status": Status.RUNNING, "reason": ""} if live.session.status == Status.WAITING else {}


def _queued(live: LiveSession, queued_id: str) -> QueuedMessage:
    found = next((one for one in live.chat_session.chat.queue if one.id == queued_id), None)
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
