"""What an assistant's turn sends to its model, also in a group: the conversation as this assistant sees it;
pure.

A request is valid for every provider even where messages were cut or lost: each call has one result right
after it, the first message is the user's, and neighbours of one role are merged. Providers charge little for
the beginning that two requests share, so what was sent is sent again as it was, what changes is at the end,
and `cache_plan` says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import datetime
from functools import lru_cache
from hashlib import sha256

from app.core.criteria import Plan
from app.core.definitions import ORCHESTRATOR, SWITCH_ASSISTANT, Agent, Creativity, Group, Leader
from app.core.frozen import Frozen
from app.core.ids import new_id, utc_now
from app.core.json_values import object_in
from app.core.memory import REMEMBER
from app.core.message import Author, Message, MessageState, PromptReason, PromptType, Role, ToolCall
from app.core.provider import CachePlan, ModelRequest, asked_of
from app.core.session import AgentMode, AnswerChoice
from app.core.skills import MOST_TOLD, Skill
from app.core.tool import FILE_PARTS, FILES, READ_SKILL, Control, is_object, told_of
from app.engine import history
from app.engine.history import pruned_calls, short_result, summary_for, turn_notes, usable_summaries
from app.engine.library.agents import ORCHESTRATION, AgentDirectory, AgentModel, Delegation
from app.engine.live_session import LiveSession
from app.engine.memory import Notes, remembers, told
from app.engine.names import label_of
from app.engine.prompts import Lines, Prompts

# How many of its last messages a debate sends where nothing else is chosen.
WINDOW = 15


class Attempt(Frozen):
    """The constraints of a request: at most `window` messages, and whether the answer before was empty."""

    window: int = WINDOW
    after_empty: bool = False


def instruction_of(call: ToolCall) -> tuple[str, str]:
    """Return (member, instruction) of a hand-over; empty where the call does not say."""
    arguments = object_in(call.arguments) or {}
    return str(arguments.get("assistant", "")), str(arguments.get("instruction", ""))


def turns_used(live: LiveSession) -> int:
    """Return how often the orchestrator has spoken since the user's last message or the last resuming."""
    session = live.group_session
    used = 0
    for turn_id in live.turns.back_from(session.chat.head):
        first = live.turns.said(turn_id)[0]
        if first.by_user:
            break
        used += first.author.id == ORCHESTRATOR and first.id > session.chat.budget_from
    return used


MAX_SENT_RESULT = 20_000


def in_mode(turn: "AgentTurn", mode: str) -> "AgentTurn":
    """Return a turn in the session's mode: settings mode also applies to turns that have begun."""
    return replace(turn, mode=AgentMode.SETTINGS) if mode == AgentMode.SETTINGS else turn


def file_tools(live: LiveSession, model: AgentModel) -> tuple[str, ...]:
    """Return the sets for files, if the model chooses tools: the session's own, and parts
    of a long file where it has one.
    """
    if model.guided or model.tools is False:
        return ()
    long = any(history.is_long(item.text, model) for message in live.messages for item in message.attachments)
    return (FILES, FILE_PARTS) if long else (FILES,)


def root_turn(
    agent: Agent,
    live: LiveSession,
    directory: AgentDirectory,
    *,
    given: Sequence[str] = (),
    choice: AnswerChoice | None = None,
    **fields: object,
) -> "AgentTurn":
    """Return a turn of an assistant in a chat that hears the conversation: with the chat's model,
    its effort and its long files, or with what the user chose for this turn alone.
    """
    chat = live.chat_session.chat
    chosen = choice if choice is not None and choice.provider else chat
    if chosen.provider:
        agent = replace(agent, provider=chosen.provider, model=chosen.model)
    agent = replace(agent, effort=(choice and choice.effort) or chat.effort or agent.effort)
    turn = _turn_of(agent, live, directory, chat.mode)
    # They may say otherwise what it follows.
    fields = {"follows": chat.head, "given": (*given, *turn.given), **fields}
    return replace(turn, **fields)  # type: ignore[arg-type]


def turn_below(
    turn: "AgentTurn", call_id: str, job: Delegation, live: LiveSession, directory: AgentDirectory
) -> "AgentTurn":
    """Return the turn of an assistant that a call of a turn begins or goes on with.

    With a task it is a sub-agent's; without, it hears the conversation up to the call, as in a turn at the
    root.
    """
    agent = job.agent
    if job.task:
        found = _turn_of(agent, live, directory, job.mode, turn.agent_model)
        found = replace(found, stack=(*turn.stack, agent.id), follows=turn.follows, task=job.task)
    else:
        found = root_turn(agent, live, directory, follows=turn.turn_id)
    return replace(found, parent_turn_id=turn.turn_id, parent_call_id=call_id, mode=job.mode)


def _turn_of(
    agent: Agent, live: LiveSession, directory: AgentDirectory, mode: str, above: AgentModel | None = None
) -> "AgentTurn":
    """Return a turn of an assistant with its sets of tools, and with what it is told to remember: its own
    notes, and those of the session's folder. A sub-agent may have the model `above` it.
    """
    folder = directory.folder(live.session.folder).id
    agent = directory.in_folder(agent, folder)
    model = directory.model_of(agent, above)
    given, memory = file_tools(live, model), Notes()
    if remembers(agent, live):
        own = (
            note for note in directory.notes() if note.agent == agent.id or (folder and note.folder == folder)
        )
        given, memory = (*given, REMEMBER), told(own, local=model.local)
    turn = AgentTurn(turn_id=new_id(), agent=agent, agent_model=model, stack=(agent.id,), mode=mode)
    return replace(turn, given=given, memory=memory)


class AgentTurn(Frozen):
    """A turn of an assistant: its model, and its place in the tree of turns.

    `stack` are the assistants' ids from the root to this one; `task` is what a sub-agent was given, which
    hears nothing else of the conversation; `notes` is added to its instructions; `state` is what it is told
    of the work as it is now; `given` are the sets of tools it has besides its own. `marks` are fields that
    all its messages have. `memory` are the notes that it is told.
    """

    turn_id: str
    agent: Agent
    agent_model: AgentModel
    stack: tuple[str, ...]
    mode: str
    follows: str | None = None
    parent_turn_id: str | None = None
    parent_call_id: str | None = None
    task: str = ""
    kind: str = "main"
    notes: str = ""
    state: str = ""
    given: tuple[str, ...] = ()
    marks: Mapping[str, object] = field(default_factory=dict)
    memory: Notes = ()

    @property
    def folder(self) -> str:
        """Where an external agent works with its own tools; "" for who only speaks."""
        return self.agent.folder if self.agent_model.external else ""

    @property
    def author(self) -> Author:
        """The agent as the author of its messages."""
        kind, depth = "sub" if self.task else self.kind, len(self.stack) - 1
        return Author(id=self.agent.id, name=self.agent.name, kind=kind, path=self.stack, depth=depth)

    def message(self, role: str = Role.ASSISTANT, **fields: object) -> Message:
        """Return a new message of the turn."""
        above = {"parent_turn_id": self.parent_turn_id, "parent_call_id": self.parent_call_id}
        made = {"created_at": utc_now(), "follows": self.follows, **above, **self.marks, **fields}
        message = Message(id=new_id(), turn_id=self.turn_id, role=role, author=self.author)
        return replace(message, **made)  # type: ignore[arg-type]


class Told(Frozen):
    """What a turn's model is told beside the conversation: the functions that it may call, what the user
    wrote about themselves for all assistants, and the skills that the assistant may read.
    """

    functions: Sequence[Mapping[str, object]] = ()
    about_user: str = ""
    skills: Sequence[Skill] = ()


def build_request(
    turn: AgentTurn, live: LiveSession, also: Told, attempt: Attempt, words: Lines, *, wrap_up: bool = False
) -> ModelRequest:
    """Return the request of a turn's next call; with `wrap_up` the model is told to end without tools."""
    items = [*items_before(turn, live, words), *turn_items(turn.turn_id, turn, live, words)]
    if news := news_of(turn, live, words):
        items.append({"role": Role.USER, "content": news})
    nudge = words["wrap_up"] if wrap_up else words["after_empty"] if attempt.after_empty else ""
    if nudge:
        items.append({"role": Role.USER, "content": nudge})
    return request_of(turn, live, items, also, words)


def request_of(
    turn: AgentTurn, live: LiveSession, items: list[history.Item], also: Told, words: Lines
) -> ModelRequest:
    """Return a request that every provider accepts: it begins and ends with the user's words."""
    if not items or items[0]["role"] != Role.USER:
        items.insert(0, {"role": Role.USER, "content": words["left_out"]})
    if items[-1]["role"] == Role.ASSISTANT:
        items.append({"role": Role.USER, "content": words["continue"]})
    chat = live.session.chat
    if chat is not None and chat.context:
        files = history.files_text(chat.context, words, turn.agent_model)
        items.insert(0, {"role": Role.USER, "content": files})
    said = _system(turn, words, also, chat.instructions if chat else "")
    sent = [] if turn.task or not turn.memory else _sent(turn, live)[1]
    if notes := _notes_by_turn(turn, live, sent).get(""):
        said = f"{said}\n\n{_notes_text(notes, words, 'memory')}"
    if criteria := live.session.criteria:
        said = "\n".join((f"{said}\n\n{words['done_means']}", *(f"- {item.text}" for item in criteria)))
    system: history.Item = {"role": Role.SYSTEM, "content": said}
    messages = (system, *history.merged(_with_last_pictures(items)))
    tools, temperature = tuple(sorted(also.functions, key=name_of)), temperature_of(turn.agent.creativity)
    how = {"effort": turn.agent.effort, "folder": turn.folder, "temperature": temperature}
    return asked_of(turn.agent_model.seat, messages, tools=tools, **how)


def items_before(turn: AgentTurn, live: LiveSession, words: Lines) -> list[history.Item]:
    """Return what a turn begins with: what came before it, or the task of a sub-agent."""
    if turn.task:
        return [{"role": Role.USER, "content": turn.task}]
    return history_of(turn, live, words).items(words)


def news_of(turn: AgentTurn, live: LiveSession, words: Lines) -> str:
    """Return the session's state for a turn's next call, "" where the turn knows it already.

    The message that the call makes keeps it, so that later requests say the same in the same place.
    """
    settings = words["settings"] if turn.mode == AgentMode.SETTINGS else ""
    state = "\n\n".join(filter(None, (turn.state, settings)))
    _, sent = notes_and_rest(live, turn.turn_id)
    told = [message.told for message in sent if message.told and message.state == MessageState.DONE]
    return "" if told and told[-1] == state else state


def name_of(function: Mapping[str, object]) -> str:
    """Return the name of a function; requests offer them in the order of their names."""
    inner = function["function"]
    return str(inner["name"]) if isinstance(inner, Mapping) else ""


def _system(turn: AgentTurn, words: Lines, also: Told, folder: str) -> str:
    agent, skills = turn.agent, also.skills if READ_SKILL in map(name_of, also.functions) else ()
    parts = [words["who"].format(name=agent.name)]
    parts += [words["role"].format(role=agent.role)] if agent.role else []
    parts += [agent.instructions.strip()] if agent.instructions.strip() else []
    parts += [words["about_user"].format(text=also.about_user)] if also.about_user else []
    parts += [words["folder"].format(text=folder)] if folder else []
    parts += length_words(agent.length, words)
    parts += [turn.notes] if turn.notes else []
    parts += [words["sub"]] if turn.task else []
    parts += [words["pages"].format(pages=", ".join(agent.pages))] if agent.pages else []
    parts += ["\n".join((words["skills"].format(tool=READ_SKILL), *_told_of(skills)))] if skills else []
    parts += [words["others"]]
    parts += [words["data"]] if also.functions else []
    return "\n\n".join(parts)


def _told_of(skills: Sequence[Skill]) -> Iterator[str]:
    """Yield a line for each skill: what it is for, or where there is no room for that its name."""
    left = MOST_TOLD
    for skill in skills:
        for line in (f"- {skill.name}: {skill.description}", f"- {skill.name}"):
            if (tokens := history.tokens_of(f"{line}\n")) <= left:
                left -= tokens
                yield line
                break


class History(Frozen, kw_only=False):
    """What came before a turn, as its assistant is sent it: a summary, and every turn behind it,
    the oldest first.

    The user's newest message is there as it was said, even where the summary stands for it: then it comes
    first. `pinned` are the messages that the user wants sent word for word although the summary stands for
    them, as parts of an item in the order in which they were pinned: another one changes nothing that is sent
    before it.
    """

    summary: Message | None
    turns: Sequence[tuple[str, list[history.Item]]]
    pinned: Sequence[object] = ()

    def items(self, words: Lines) -> list[history.Item]:
        """Return it as the items of a request."""
        items = [item for _, turn in self.turns for item in turn]
        if self.summary is None:
            return items
        notes: object = f"{words['notes']}\n\n{self.summary.content}"
        if self.pinned:
            notes = [*history.parts_of(notes), *self.pinned]
        return [{"role": Role.USER, "content": notes}, *items]


def history_of(turn: AgentTurn, live: LiveSession, words: Lines, *, until: str = "") -> History:
    """Return what came before a turn, as its assistant is sent it; with `until` what came up to that turn,
    as it would be sent without a summary of just that.
    """
    path, kept, summary = _sent(turn, live, until)
    covered = set(path).difference(kept) if live.session.pinned else ()
    notes = _notes_by_turn(turn, live, kept)
    turns = [
        (turn_id, _past_items(turn_id, turn, live, words, notes.get(turn_id, ())))
        for turn_id in reversed(kept)
    ]
    said = [item for turn_id in covered for item in live.turns.said(turn_id)]
    return History(summary, turns, _pinned_parts(said, live, words, turn))


def _sent(turn: AgentTurn, live: LiveSession, until: str = "") -> tuple[list[str], list[str], Message | None]:
    """Return the turns before one, the newest first, those of them that are sent, and the summary
    of the others.
    """
    path = list(live.turns.back_from(until or turn.follows or ""))
    summary = summary_for(live, path[1:] if until else path, turn.agent.id)
    kept = path[: path.index(summary.through)] if summary else path
    asked = next((turn_id for turn_id in path if live.turns.said(turn_id)[0].role == Role.USER), None)
    return path, [*kept, asked] if asked and asked not in kept else kept, summary


def _notes_by_turn(turn: AgentTurn, live: LiveSession, sent: Sequence[str]) -> Mapping[str, Notes]:
    """Return the notes that are told with each turn of the user's that is sent, and with "" those of the
    system text.

    What was sent stays as it was when a note is kept, so that the provider has it in its cache: the system
    text has those that were kept before the first message that is sent, and each other one is told with the
    message that was said next. Nothing of it is stored, so a note that was deleted is told no longer.
    """
    firsts = (live.turns.said(turn_id)[0] for turn_id in reversed(sent))
    asked = [message for message in firsts if message.role == Role.USER]
    told: dict[str, Notes] = {}
    for note in turn.memory:
        later = [message.turn_id for message in asked[1:] if message.created_at >= note.at]
        is_new = len(asked) > 1 and note.at > asked[0].created_at
        place = (later or [asked[-1].turn_id])[0] if is_new else ""
        told[place] = (*told.get(place, ()), note)
    return told


def _notes_text(notes: Notes, words: Lines, heading: str) -> str:
    """Return notes as a model is told them: what was not typed or said by somebody with where it is from."""
    lines = [words[heading]]
    for note in notes:
        source = words.get(f"memory.{note.origin}", "").format(name=note.source)
        lines.append(f"- {note.text}{source and f' ({source})'}")
    return "\n".join(lines)


def _pinned_parts(
    covered: Sequence[Message], live: LiveSession, words: Lines, turn: AgentTurn
) -> list[object]:
    """Return what is pinned of messages that a summary stands for, in the order of pinning."""
    order = live.session.pinned
    parts: list[object] = []
    for message in sorted((msg for msg in covered if msg.id in order), key=lambda item: order.index(item.id)):
        said = f"{words['pinned'].format(name=message.author.name)}\n{message.content}"
        parts += history.parts_of(_user_item(replace(message, content=said), words, turn)["content"])
    return parts


def _past_items(
    turn_id: str, turn: AgentTurn, live: LiveSession, words: Lines, notes: Notes
) -> list[history.Item]:
    messages = live.turns.said(turn_id)
    if messages[0].role == Role.USER:
        new = _notes_text(notes, words, "memory.new") if notes else ""
        told: list[history.Item] = [{"role": Role.USER, "content": new}] if new else []
        return [*told, _user_item(messages[0], words, turn)]
    if messages[0].author.id == turn.agent.id:
        return turn_items(turn_id, turn, live, words, past=True)
    texts = _foreign(turn_id, turn, live, words)
    return [{"role": Role.USER, "content": "\n\n".join(texts)}] if texts else []


def notes_and_rest(live: LiveSession, turn_id: str) -> tuple[Message | None, list[Message]]:
    """Return the notes that stand for the beginning of a turn, None for none, and the messages that are
    sent.
    """
    messages = live.turns.said(turn_id)
    notes, place = turn_notes(messages, usable_summaries(live, turn_id))
    by_user = [item for item in messages[:place] if item.role == Role.USER and item.answers is None]
    return notes, [*by_user, *messages[place:]]


def turn_items(
    turn_id: str, turn: AgentTurn, live: LiveSession, words: Lines, *, past: bool = False, until: str = ""
) -> list[history.Item]:
    """Return an assistant's own turn: its answers, each followed by its calls' results
    and the user's answers.

    Failed messages are left out. Cut messages count in past turns only. Where notes stand for its beginning,
    they are there instead. With `until` nothing behind that message's results is there.
    """
    pruned = pruned_calls(live.turns.said(turn_id), usable_summaries(live, turn_id))
    notes, messages = notes_and_rest(live, turn_id)
    results: dict[str, Message] = {}
    answers: dict[str, list[Message]] = {}
    asked_by: dict[str, str] = {}
    for message in messages:
        if message.role == Role.TOOL and message.tool_call_id:
            results[message.tool_call_id] = message
            asked_by[message.id] = message.tool_call_id
        elif message.role == Role.USER and message.answers in asked_by:
            answers.setdefault(asked_by[message.answers or ""], []).append(message)
    items: list[history.Item] = []
    counted = (MessageState.DONE, MessageState.STOPPED) if past else (MessageState.DONE,)
    if notes is not None:
        sent = {entry.id for entry in messages}
        left = [entry for entry in live.turns.said(turn_id) if entry.id not in sent]
        said: object = f"{words['turn_notes']}\n\n{notes.content}"
        pinned = _pinned_parts(left, live, words, turn)
        items.append({"role": Role.USER, "content": [*history.parts_of(said), *pinned] if pinned else said})
    for message in messages:
        if message.role == Role.USER and message.answers is None:
            items.append(_user_item(message, words, turn))
        if message.role != Role.ASSISTANT or message.state not in counted:
            continue
        item: history.Item = {"role": Role.ASSISTANT, "content": message.content}
        # What an external agent did is told to itself alone.
        calls = message.tool_calls if message.model == turn.agent_model.name else message.own_calls
        if calls:
            item["tool_calls"] = [_call_item(call) for call in calls]
        elif not message.content.strip() and not message.attachments:
            continue
        if message.attachments:
            item |= _pictures_item(message, turn, words)
        if message.provider_state and message.model == turn.agent_model.name:
            item |= message.provider_state
        if calls and message.thinking and message.model == turn.agent_model.name:
            item["reasoning_content"] = message.thinking
        items += [{"role": Role.USER, "content": message.told}] if message.told else []
        items.append(item)
        for call in calls:
            content = _result_text(results.get(call.id), words, short=call.id in pruned)
            items.append({"role": Role.TOOL, "tool_call_id": call.id, "content": content})
        returned = [results[call.id] for call in calls if call.id in results and call.id not in pruned]
        items += history.returned_pictures(returned, words, turn.agent_model)
        for call in calls:
            items += [_user_item(answer, words, turn) for answer in answers.get(call.id, ())]
        if message.id == until:
            break
    return items


def _with_last_pictures(items: Sequence[history.Item]) -> list[history.Item]:
    """Return the items without the pictures of all answers but the last that has some:
    they would be sent every time.
    """
    kept = list(items)
    having = [place for place, item in enumerate(kept) if "images" in item]
    for place in having[:-1]:
        item = kept[place]
        plain = {name: value for name, value in item.items() if name != "images"}
        kept[place] = {**plain, "content": item["content"] or "…"}
    return kept


def _pictures_item(message: Message, turn: AgentTurn, words: Lines) -> history.Item:
    """Return what is sent of an answer's pictures: to the model that made them the pictures,
    to others their names.
    """
    if message.model == turn.agent_model.name:
        urls = [f"data:{item.media_type};base64,{item.data}" for item in message.attachments]
        return {"images": [{"type": "image_url", "image_url": {"url": url}} for url in urls]}
    names = [words["attachment"].format(name=attachment.name) for attachment in message.attachments]
    return {"content": "\n\n".join(filter(None, (message.content.strip(), *names)))}


def _result_text(result: Message | None, words: Lines, *, short: bool) -> str:
    if result is None or result.state not in (MessageState.DONE, MessageState.FAILED):
        return words["lost"]
    text = result.content or "(nothing)"
    if short:
        text = short_result(text)
    elif len(text) > MAX_SENT_RESULT and result.control != Control.END:
        # What a member said side by side with others is sent whole, as what it says alone.
        text = f"{text[:MAX_SENT_RESULT]}\n… (cut; it has {len(text)} characters)"
    if result.prompt is not None and result.prompt.type != PromptType.APPROVAL:
        asked = words["asked"] if result.prompt.answered_by else words["skipped"]
        # The model knows the words of Moot's own questions, but not those of a page.
        return f"{text}\n\n{asked}" if result.prompt.reason == PromptReason.PAGE else asked
    return text


def _foreign(turn_id: str, turn: AgentTurn, live: LiveSession, words: Lines) -> list[str]:
    """Return another assistant's turn as this one reads it: its labelled words, without its tools.
    Only the orchestrator is told that a member gave no answer.

    What members said side by side stands behind its hand-over; while they do, each reads its own alone.
    """
    texts: list[str] = []
    for message in live.turns.said(turn_id):
        if message.role != Role.ASSISTANT:
            continue
        text = message.content.strip()
        label = f"[{message.author.name}]: "
        if text and message.state in (MessageState.DONE, MessageState.STOPPED):
            texts.append(label + text)
        above = turn_id == turn.parent_turn_id
        for call in message.tool_calls:
            if call.name == SWITCH_ASSISTANT and (not above or call.id == turn.parent_call_id):
                texts.append(label + "@{}: {}".format(*instruction_of(call)))
                for called in () if above else live.turns.called_by(turn_id, call.id):
                    texts += _foreign(called, turn, live, words)
        if message.state == MessageState.FAILED and message.error is not None and turn.kind == ORCHESTRATOR:
            texts.append(label + words["no_answer"].format(reason=message.error.kind))
    return texts


def _user_item(message: Message, words: Lines, turn: AgentTurn) -> history.Item:
    if message.author.program:
        message = replace(message, content=f"[{label_of(message.author)}]: {message.content}")
    content = history.user_content(message, words, turn.agent_model, partly=FILE_PARTS in turn.given)
    return {"role": Role.USER, "content": content}


def _call_item(call: ToolCall) -> history.Item:
    function = {"name": call.name or "unknown", "arguments": _sound(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


# Each request holds the calls of the one before it.
@lru_cache(4_096)
def _sound(arguments: str) -> str:
    """Return arguments that every provider accepts: an object.
    The call's result tells the model what was wrong with others.
    """
    return arguments if is_object(arguments) else "{}"


MOST_STEPS = 8
SET_PLAN = "setPlan"
REPORT_RESULT = "reportResult"
# What these do is told in other places: by the plan, the next member's messages, the report.
TOLD_ELSEWHERE = frozenset((SET_PLAN, "checkDone", "clearPlan", SWITCH_ASSISTANT, REPORT_RESULT))


def orchestrator_of(live: LiveSession, saved: Group | None, *, last: bool = False) -> Agent:
    """Return the orchestrator of a session as the group says by now; in its `last` turn it can only
    report.
    """
    leader = saved.orchestrator if saved else Leader()
    name, said = live.chat_session.chat.assistant_name, saved.instructions if saved else ""
    tools, steps = ((REPORT_RESULT,), 1) if last else ((ORCHESTRATION, FILES), MOST_STEPS)
    return Agent(
        id=ORCHESTRATOR, name=name, instructions=said, tools=tools, max_steps=steps, **asdict(leader)
    )


def next_lead(live: LiveSession, directory: AgentDirectory, prompts: Prompts) -> AgentTurn:
    """Return the turn that would be the orchestrator's next."""
    session = live.group_session
    agent = orchestrator_of(live, directory.group(session.group.id))
    notes, state = told_to_lead(live, directory.members(session.group), prompts)
    given = (ORCHESTRATION,)
    return root_turn(agent, live, directory, given=given, kind=ORCHESTRATOR, notes=notes, state=state)


def told_to_lead(
    live: LiveSession, members: Sequence[Agent], prompts: Prompts, *, begun: bool = False
) -> tuple[str, str]:
    """Return what is told to the orchestrator for a turn, which may have begun: its members; the plan
    and the turns left.
    """
    session = live.group_session
    group, language = session.group, session.chat.language
    left = group.turns_limit - turns_used(live) - (0 if begun else 1)
    lines = [f"- {told_of(member)}" for member in members]
    notes = prompts.text(language, "orchestrator", group=group.name, members="\n".join(lines))
    now = {"plan": _plan_text(session.plan), "left": max(0, left), "limit": group.turns_limit}
    return notes, prompts.text(language, "orchestrator-state", **now)


def _plan_text(plan: Plan | None) -> str:
    """Return the plan as text for the orchestrator: the user may have changed it."""
    if plan is None or not plan.items:
        return "There is no plan yet."
    lines = [f"{number}. [{'x' if item.done else ' '}] {item.text}" for number, item in enumerate(plan.items)]
    return "The plan now:\n" + "\n".join(lines)


_SHORT = 240.0
_LONG = 3_600.0


def cache_plan(
    session_id: str, speaker: str, messages: Sequence[Message], own: Iterable[Message], **fields: bool
) -> CachePlan:
    """Return the plan for a speaker's next request, after these messages; `own` are the speaker's,
    the newest first.
    """
    before = next((item.created_at for item in own if item.role == Role.ASSISTANT and item.created_at), "")
    now = next((message.created_at for message in reversed(messages) if message.created_at), "")
    key = sha256(f"{session_id} {speaker}".encode()).hexdigest()[:32]
    return CachePlan(key=key, life=life_of(before, now), **fields)


def turn_plan(turn: AgentTurn, live: LiveSession, *, tail: bool) -> CachePlan:
    """Return the plan for the next request of an assistant's turn; a sub-agent's requests end with its
    turn.
    """
    alone = bool(turn.task)
    messages = live.turns.said(turn.turn_id) if alone else live.messages
    own = (message for message in reversed(messages) if message.author.id == turn.agent.id)
    brief = False
    if live.turns.is_summarized and not alone:
        brief = summary_for(live, live.turns.back_from(turn.follows or ""), turn.agent.id) is not None
    speaker = turn.turn_id if alone else turn.agent.id
    return cache_plan(live.id, speaker, messages, own, brief=brief, tail=tail)


def life_of(before: str, now: str) -> str:
    """Return how long a provider shall keep a request, from when the last two began: as long
    as it takes until the next.

    "" where the next one is expected later than any provider keeps it: writing to the cache costs more than
    reading.
    """
    try:
        gap = (datetime.fromisoformat(now) - datetime.fromisoformat(before)).total_seconds()
    except (ValueError, TypeError):
        # The first request, or a damaged time.
        return "5m"
    return "5m" if gap < _SHORT else "1h" if gap <= _LONG else ""


_TEMPERATURE: dict[str, float] = {Creativity.PRECISE: 0.2, Creativity.BALANCED: 0.7, Creativity.CREATIVE: 1.0}

# What small models are sent besides.
SMALL_MODEL_OPTIONS = {"top_k": 40, "min_p": 0.05, "repeat_penalty": 1.15, "repeat_last_n": 256}


def temperature_of(creativity: str) -> float | None:
    """Return the temperature for a creativity, None where it is left to the model."""
    return _TEMPERATURE.get(creativity)


def length_words(length: str, words: Lines) -> list[str]:
    """Return the sentence that asks for answers of a length, none where it is left to the model."""
    wish = words.get(f"length.{length}", "")
    return [wish] if wish else []
