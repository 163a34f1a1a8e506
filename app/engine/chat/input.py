"""The checks of what users type: texts, titles, answers; used by the commands of chats, groups and workflows."""

from collections.abc import Sequence
from typing import Any

from app.core.errors import BadInput
from app.core.forms import HIDDEN, FieldKind, form_text, means_yes, problem_of, read_form
from app.core.ids import new_id
from app.core.message import (
    AGENT_OPTION,
    DENY_BECAUSE,
    Attachment,
    Consent,
    Message,
    Prompt,
    PromptReason,
    PromptType,
)
from app.core.session import AgentMode, Status
from app.core.text import clean_text, trimmed, visible

MAX_TEXT = 400_000
MAX_TITLE = 80
MAX_REASON = 2_000
MODES = (AgentMode.DEFAULT, AgentMode.SETTINGS)


def begun_with(message: Message, folder: str, asked_by: str = "") -> dict[str, Any]:
    """Return what a session that begins with a message has, whatever its kind."""
    return {
        "id": new_id(),
        "title": title_of(message.content, message.attachments),
        "status": Status.RUNNING,
        "created_at": message.created_at,
        "updated_at": message.created_at,
        "folder": folder,
        "asked_by": asked_by,
    }


def checked_text(text: str, attachments: tuple[Attachment, ...]) -> str:
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


def title_of(text: str, attachments: tuple[Attachment, ...]) -> str:
    """Return the title of a session that begins with a text: its first line."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    first = first or (attachments[0].name if attachments else "")
    return first if len(first) <= MAX_TITLE else first[: MAX_TITLE - 1].rstrip() + "…"


def answers_of(prompt: Prompt) -> Sequence[str]:
    """Return the answers that an approval takes, the ones that last least first."""
    if prompt.reason == PromptReason.AGENT_ASKS:
        own = (f"{AGENT_OPTION}{place}" for place in range(1, len(prompt.kinds) + 1))
        return [Consent.ALLOW, *own, Consent.DENY]
    if prompt.reason == PromptReason.AGENT_WORKS:
        return [Consent.ALLOW, Consent.ALWAYS, Consent.FOREVER, Consent.DENY]
    if not prompt.consent or prompt.reason != PromptReason.TOOL:
        # Only a tool of a server can be recognised for good: its consent says exactly what it was.
        return [Consent.ALLOW, Consent.ALWAYS, Consent.DENY]
    reading = (Consent.ALWAYS_READING, Consent.FOREVER_READING)
    return [one for one in Consent if prompt.reads or one not in reading]


def lasting_answers(prompt: Prompt) -> list[str]:
    """Return the answers to an approval that are more than for this once, or an external agent's own."""
    return [one for one in answers_of(prompt) if one not in (Consent.ALLOW, Consent.DENY)]


def takes_reason(prompt: Prompt) -> bool:
    """Return whether denying can say why: to an assistant, whose tool then ends so, not to an external agent."""
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
    if prompt.type == PromptType.YESNO and (yes := means_yes(answer)) is not None:
        return "yes" if yes else "no"
    if prompt.type == PromptType.OPTIONS and answer.isdecimal() and 1 <= int(answer) <= len(prompt.options):
        return answer if answer in prompt.options else prompt.options[int(answer) - 1]
    return answer


def _fitting_form(prompt: Prompt, answer: str) -> str:
    """Return the answer to a form as JSON. Raises BadInput that names a field that does not fit."""
    values = read_form(answer, prompt.fields)
    if values is None:
        raise BadInput("form_unread", fields=", ".join(visible(one.key) for one in prompt.fields))
    for field in prompt.fields:
        if problem_of(field, values.get(field.key, ())):
            raise BadInput("form_unfit", field=field.label)
    return form_text(values)


def answer_words(prompt: Prompt, yes: str = "yes", no: str = "no", hidden: str = HIDDEN) -> str:
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
            labels = {HIDDEN: hidden}
        elif field.kind == FieldKind.YESNO:
            labels = {"yes": yes, "no": no}
        said = ", ".join(labels.get(one, one) for one in values.get(field.key, ()))
        if said:
            lines.append(f"{field.label}: {said}")
    return "\n".join(lines) or "–"
