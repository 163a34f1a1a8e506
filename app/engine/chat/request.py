"""What an assistant's turn sends to its model: the conversation as this assistant sees it; pure.

A request is valid for every provider even where messages were cut or lost: each call has one result right after it,
the first message is the user's, and neighbours of one role are merged. Providers charge little for the beginning
that two requests share, so what was sent is sent again as it was, and what changes is told at the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.agent import Agent
from app.core.files import with_page_numbers
from app.core.ids import new_id
from app.core.message import Author, Message, MessageState, PromptReason, PromptType, Role
from app.core.provider import ModelRequest
from app.core.session import AgentMode
from app.core.tool import is_object
from app.engine.chat.branches import back_from
from app.engine.debate.perspective import SHORT_WINDOW
from app.engine.group.director import ORCHESTRATOR, SWITCH_ASSISTANT, instruction_of
from app.engine.library.agents import AgentModel
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.turns.answer import Attempt

MAX_SENT_RESULT = 20_000
SHORT_RESULT = 1_000

Item = dict[str, object]


def in_mode(turn: "AgentTurn", mode: str) -> "AgentTurn":
    """Return a turn in the session's mode: settings mode also applies to turns that have begun."""
    return replace(turn, mode=AgentMode.SETTINGS) if mode == AgentMode.SETTINGS else turn


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTurn:
    """A turn of an assistant: its model, and its place in the tree of turns.

    `stack` are the assistants' ids from the root to this one; `task` is what a sub-agent was given; `notes` is added to
    its instructions; `state` is what it is told of the work as it is now; `given` are the sets of tools it has besides
    its own.
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

    @property
    def author(self) -> Author:
        """The agent as the author of its messages."""
        return Author(
            id=self.agent.id,
            name=self.agent.name,
            kind="sub" if self.parent_turn_id else self.kind,
            path=self.stack,
            depth=len(self.stack) - 1,
        )

    def message(self, role: str = Role.ASSISTANT, **fields: object) -> Message:
        """Return a new message of the turn."""
        message = Message(
            id=new_id(),
            turn_id=self.turn_id,
            role=role,
            author=self.author,
            parent_turn_id=self.parent_turn_id,
            parent_call_id=self.parent_call_id,
            follows=self.follows,
        )
        return replace(message, **fields)  # type: ignore[arg-type]


def build_request(
    turn: AgentTurn,
    live: LiveSession,
    functions: Sequence[Mapping[str, object]],
    attempt: Attempt,
    prompts: Prompts,
    language: str,
    *,
    about_user: str = "",
    wrap_up: bool = False,
) -> ModelRequest:
    """Return the request of a turn's next call; with `wrap_up` the model is told to end without tools.

    `about_user` is what the user wrote about themselves for all assistants.
    """
    words = prompts.lines(language, "assistant")
    short = attempt.window <= SHORT_WINDOW
    most = SHORT_RESULT if short else MAX_SENT_RESULT
    images = turn.agent_model.images
    if turn.parent_turn_id:
        items: list[Item] = [{"role": Role.USER, "content": turn.task}]
    else:
        items = _history(turn, live, attempt.window, words, most, images)
    items += _turn_items(live.turn(turn.turn_id), turn, words, most, images)
    if told := news_of(turn, live, words):
        items.append({"role": Role.USER, "content": told})
    nudge = words["wrap_up"] if wrap_up else words["after_empty"] if attempt.after_empty else ""
    if nudge:
        items.append({"role": Role.USER, "content": nudge})
    if not items or items[0]["role"] != Role.USER:
        items.insert(0, {"role": Role.USER, "content": words["left_out"]})
    if items[-1]["role"] == Role.ASSISTANT:
        items.append({"role": Role.USER, "content": words["continue"]})
    system = {"role": Role.SYSTEM, "content": _system(turn, words, bool(functions), about_user)}
    return ModelRequest(
        provider=turn.agent_model.provider,
        model=turn.agent_model.model,
        messages=(system, *_merged(items)),
        tools=tuple(sorted(functions, key=_name_of)),
    )


def news_of(turn: AgentTurn, live: LiveSession, words: Mapping[str, str]) -> str:
    """Return the session's state for a turn's next call, "" where the turn knows it already.

    The message that the call makes keeps it, so that later requests say the same in the same place.
    """
    settings = words["settings"] if turn.mode == AgentMode.SETTINGS else ""
    state = "\n\n".join(filter(None, (turn.state, settings)))
    told = [one.told for one in live.turn(turn.turn_id) if one.told and one.state == MessageState.DONE]
    return "" if told and told[-1] == state else state


def _name_of(function: Mapping[str, object]) -> str:
    inner = function["function"]
    return str(inner["name"]) if isinstance(inner, Mapping) else ""


def _system(turn: AgentTurn, words: Mapping[str, str], has_tools: bool, about_user: str) -> str:
    agent = turn.agent
    parts = [words["who"].format(name=agent.name)]
    parts += [words["role"].format(role=agent.role)] if agent.role else []
    parts += [agent.instructions.strip()] if agent.instructions.strip() else []
    parts += [words["about_user"].format(text=about_user)] if about_user else []
    parts += [turn.notes] if turn.notes else []
    parts += [words["sub"]] if turn.parent_turn_id else []
    parts += [words["pages"].format(pages=", ".join(agent.pages))] if agent.pages else []
    parts += [words["others"]]
    parts += [words["data"]] if has_tools else []
    return "\n\n".join(parts)


def _history(
    turn: AgentTurn, live: LiveSession, window: int, words: Mapping[str, str], most: int, images: bool
) -> list[Item]:
    """Return the whole turns before this one."""
    chosen: list[list[Item]] = []
    size, cut, asked = 0, False, False
    for turn_id in back_from(live, turn.follows or ""):
        messages = live.turn(turn_id)
        if messages[0].role == Role.USER:
            items = [_user_item(messages[0], words, images)]
        elif cut:
            continue  # The user's request is always sent, however long the work on it has become.
        elif messages[0].author.id == turn.agent.id:
            items = _turn_items(messages, turn, words, most, images, past=True)
        else:
            items = _foreign(messages, turn, words)
        # What a turn was told becomes a part of the message before it.
        length = len(items) - sum(bool(one.told) for one in messages)
        if not cut and chosen and size + length > window:
            cut = True
            if asked:
                break
            if messages[0].role != Role.USER:
                continue
        size += length
        chosen.append(items)
        asked = asked or messages[0].role == Role.USER
        if cut:
            break
    found = [item for items in reversed(chosen) for item in items]
    if cut:
        found.insert(0, {"role": Role.USER, "content": words["left_out"]})
    return found


def _turn_items(
    messages: Sequence[Message],
    turn: AgentTurn,
    words: Mapping[str, str],
    most: int,
    images: bool,
    *,
    past: bool = False,
) -> list[Item]:
    """Return an assistant's own turn: its answers, each followed by its calls' results and the user's answers.

    Failed messages are left out. Cut messages count in past turns only.
    """
    results: dict[str, Message] = {}
    answers: dict[str, list[Message]] = {}
    asked_by: dict[str, str] = {}
    for message in messages:
        if message.role == Role.TOOL and message.tool_call_id:
            results[message.tool_call_id] = message
            asked_by[message.id] = message.tool_call_id
        elif message.role == Role.USER and message.answers in asked_by:
            answers.setdefault(asked_by[message.answers or ""], []).append(message)
    items: list[Item] = []
    for message in messages:
        if message.role == Role.USER and message.answers is None:
            items.append(_user_item(message, words, images))
        if message.role != Role.ASSISTANT or not (
            message.state == MessageState.DONE or (past and message.state == MessageState.STOPPED)
        ):
            continue
        item: Item = {"role": Role.ASSISTANT, "content": message.content}
        if message.tool_calls:
            item["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name or "unknown", "arguments": _sound(call.arguments)},
                }
                for call in message.tool_calls
            ]
        elif not message.content.strip():
            continue
        if message.provider_state and message.model == turn.agent_model.name:
            item |= message.provider_state
        if message.tool_calls and message.thinking and message.model == turn.agent_model.name:
            item["reasoning_content"] = message.thinking
        items += [{"role": Role.USER, "content": message.told}] if message.told else []
        items.append(item)
        for call in message.tool_calls:
            content = _result_text(results.get(call.id), words, most)
            items.append({"role": Role.TOOL, "tool_call_id": call.id, "content": content})
        for call in message.tool_calls:
            items += [_user_item(answer, words, images) for answer in answers.get(call.id, ())]
    return items


def _result_text(result: Message | None, words: Mapping[str, str], most: int) -> str:
    if result is None or result.state not in (MessageState.DONE, MessageState.FAILED):
        return words["lost"]
    text = result.content or "(nothing)"
    text = text if len(text) <= most else f"{text[:most]}\n… (cut; it has {len(text)} characters)"
    if result.prompt is not None and result.prompt.type != PromptType.APPROVAL:
        asked = words["asked"] if result.prompt.answered_by else words["skipped"]
        # The model knows the words of Moot's own questions, but not those of a page.
        return f"{text}\n\n{asked}" if result.prompt.reason == PromptReason.PAGE else asked
    return text


def _foreign(messages: Sequence[Message], turn: AgentTurn, words: Mapping[str, str]) -> list[Item]:
    """Return another assistant's turn as this one reads it: its labelled words, without its tools. Only the orchestrator is
    told that a member gave no answer.
    """
    texts: list[str] = []
    for message in messages:
        if message.role != Role.ASSISTANT:
            continue
        said = (
            [message.content.strip()]
            if message.state in (MessageState.DONE, MessageState.STOPPED) and message.content.strip()
            else []
        )
        for call in message.tool_calls:
            if call.name == SWITCH_ASSISTANT:
                said.append("@{}: {}".format(*instruction_of(call)))
        if message.state == MessageState.FAILED and message.error is not None and turn.kind == ORCHESTRATOR:
            said.append(words["no_answer"].format(reason=message.error.kind))
        texts += [f"[{message.author.name}]: {one}" for one in said]
    return [{"role": Role.USER, "content": "\n\n".join(texts)}] if texts else []


def _user_item(message: Message, words: Mapping[str, str], images: bool) -> Item:
    texts = [message.content] if message.content.strip() else []
    pictures: list[Item] = []
    for attachment in message.attachments:
        if attachment.data and images:
            url = f"data:{attachment.media_type};base64,{attachment.data}"
            pictures.append({"type": "image_url", "image_url": {"url": url}})
        else:
            title = words["attachment"].format(name=" ".join(attachment.name.split()))
            text = with_page_numbers(attachment.text, words["page"])
            texts.append(f"{title}\n{text or attachment.media_type}")
    text = "\n\n".join(texts) or "…"
    if not pictures:
        return {"role": Role.USER, "content": text}
    return {"role": Role.USER, "content": [{"type": "text", "text": text}, *pictures]}


def _sound(arguments: str) -> str:
    """Return arguments that every provider accepts: an object. The call's result tells the model what was wrong with others."""
    return arguments if is_object(arguments) else "{}"


def _merged(items: Sequence[Item]) -> list[Item]:
    merged: list[Item] = []
    for item in items:
        last = merged[-1] if merged else None
        plain = item["role"] != Role.TOOL and "tool_calls" not in item
        if last is None or last["role"] != item["role"] or not plain or "tool_calls" in last:
            merged.append(item)
        else:
            # Of two answers the first keeps its provider's state, which belongs in front.
            merged[-1] = {**last, "content": _joined(last["content"], item["content"])}
    return merged


def _joined(first: object, second: object) -> object:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: object) -> list[object]:
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]
