"""What a question to the user is about, in a few words: for lists, notifications and cards."""

from collections.abc import Mapping

from app.core.definitions import SWITCH_ASSISTANT
from app.core.json_values import object_in
from app.core.message import Message, Prompt, PromptReason, PromptType
from app.core.texts import Texts, exact, visible

MOST_QUESTION = 300


def question_text(message: Message, texts: Texts, names: Mapping[str, str]) -> str:
    """Return a question on one line; for an approval, the tool or the hand-over to allow.

    `names` are those of the assistants by id.
    """
    prompt = message.prompt
    assert prompt is not None
    if is_hand_over(message):
        member = str(arguments_of(prompt.arguments)["assistant"])
        text = texts("hand_over.question", name=exact(names.get(member, member)))
    elif prompt.type == PromptType.APPROVAL:
        text = texts("approval.question", tool=called(prompt, texts))
    else:
        text = visible(prompt.question)
    return " ".join(text[:MOST_QUESTION].split())


def called(prompt: Prompt, texts: Texts) -> str:
    """Return what the tool of an approval is called: one of Moot's own in words, one of a server by the server's names."""
    ours = f"tool.{prompt.tool}.name"
    return texts(ours) if not prompt.server and ours in texts else prompt.called


def arguments_of(text: str) -> dict[str, object]:
    """Return the arguments of a hand-over from JSON, empty if they are no object."""
    return object_in(text) or {}


def is_hand_over(message: Message) -> bool:
    """Say whether a question is a hand-over whose member and instruction are texts."""
    prompt = message.prompt
    if prompt is None or prompt.tool != SWITCH_ASSISTANT or prompt.reason == PromptReason.MAY_HAVE_RUN:
        return False
    arguments = arguments_of(prompt.arguments)
    return all(isinstance(arguments.get(name), str) for name in ("assistant", "instruction"))
