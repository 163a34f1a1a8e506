"""The tool that asks the user a question: its result is an MCP-UI page, and the turn waits for the answer.

Also the tool that proposes to remember something, for which nothing waits (`engine/memory`).
"""

from html import escape
from typing import Final, Literal

from app.core.ids import new_id
from app.core.memory import MAX_NOTE, REMEMBER, Note
from app.core.message import Prompt, PromptType
from app.core.texts import language_of
from app.core.tool import Control, ToolError, ToolResult
from app.tools.declared import Declared, checked_text

MAX_QUESTION: Final = 4_000
MAX_OPTIONS: Final = 50
MAX_OPTION: Final = 500

# What stands around a question, in its language: title, yes, no, send.
_WORDS: Final = {"en": ("Question", "Yes", "No", "Send"), "ko": ("질문", "예", "아니요", "보내기")}
_PAGE: Final = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color-scheme: light dark; margin: 12px; }}
p {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
button, textarea {{ font: inherit; margin: 0 8px 8px 0; padding: 6px 14px; }}
textarea {{ box-sizing: border-box; display: block; width: 100%; }}
</style></head><body>
<p id="question">{question}</p>
<div role="group" aria-labelledby="question">{controls}</div>
<script>
const controls = document.querySelectorAll("button, textarea");
for (const button of document.querySelectorAll("button")) {{
  button.addEventListener("click", () => {{
    const box = document.querySelector("textarea");
    const answer = box ? box.value.trim() : button.value;
    if (!answer) return;
    for (const control of controls) control.disabled = true;
    window.parent.postMessage({{ type: "prompt", payload: {{ prompt: answer }} }}, "*");
  }});
}}
</script></body></html>
"""


async def prompt_user(
    question: str,
    type: Literal["yesno", "options", "text"],  # noqa: A002 - the name that models know
    options: list[str] | None = None,
) -> ToolResult:
    """Ask the user something you cannot find out or decide yourself; the answer comes as the next message.

    Ask one thing at a time, in the user's language. Work stops until the user answers.

    Args:
        question: The question, with all the user needs to know to answer it.
        type: "yesno" for yes or no, "options" to choose one of `options`, "text" for the user's own words.
        options: With type "options" only: what the user may choose, 1 to 50 different short texts.
    """
    asked = checked_text("promptUser: argument `question`", question, MAX_QUESTION)
    choices = _choices(type, options or [])
    html = _html(asked, type, choices)
    resource = {"uri": f"ui://prompt/{new_id()}", "mimeType": "text/html", "text": html}
    page: dict[str, object] = {"type": "resource", "resource": resource}
    prompt = Prompt(question=asked, type=type, options=choices)
    content = "The question was put to the user. The answer is the next message."
    return ToolResult(content=content, resources=(page,), prompt=prompt, control=Control.WAIT)


def _choices(kind: str, options: list[str]) -> tuple[str, ...]:
    """Return the options as they are shown. Raises ToolError."""
    name = "promptUser: argument `options`"
    if kind != PromptType.OPTIONS:
        if options:
            raise ToolError(f'{name} goes with type "options" only, not with "{kind}".')
        return ()
    if not options:
        raise ToolError('promptUser: type "options" needs argument `options`, what the user may choose.')
    if len(options) > MAX_OPTIONS:
        raise ToolError(f"{name} holds {len(options)} texts; at most {MAX_OPTIONS} are taken.")
    choices = [checked_text(f"{name}[{place}]", each, MAX_OPTION) for place, each in enumerate(options)]
    for place, choice in enumerate(choices):
        if choice in choices[:place]:
            raise ToolError(f"{name}[{place}] is there twice: {choice[:60]!r}.")
    return tuple(choices)


def _html(question: str, kind: str, choices: tuple[str, ...]) -> str:
    """Return a page that posts the answer as an MCP-UI `prompt` action, and loads nothing."""
    # Without a form element: clients show the page in a frame that may run scripts and do nothing else.
    language = language_of(question)
    title, yes, no, send = _WORDS[language]
    if kind == PromptType.TEXT:
        box = '<textarea rows="3" aria-labelledby="question"></textarea>'
        controls = f'{box}<button type="button">{send}</button>'
    else:
        shown = map(escape, (yes, no) if kind == PromptType.YESNO else choices)
        controls = "".join(f'<button type="button" value="{text}">{text}</button>' for text in shown)
    return _PAGE.format(language=language, title=title, question=escape(question), controls=controls)


async def remember(text: str, for_: Literal["me", "folder"] = "me") -> ToolResult:
    """Propose to remember a lasting fact or wish of the user for later conversations.

    The user sees the sentence, and may change or refuse it; go on without waiting for that. Propose only what
    will still be useful in weeks, at most three things in an answer, never a key, a password or what is in
    your memory already.

    Args:
        text: One sentence that can be understood without this conversation, at most 500 characters.
        for_: "me" for yourself, "folder" for every assistant in the folder of this conversation.
    """
    told = checked_text("remember: argument `text`", " ".join(text.split()), MAX_NOTE)
    # The engine puts in whom it is for.
    proposal = Note(id="", text=told, folder="folder" if for_ == "folder" else "")
    return ToolResult(content="The user will be asked whether to remember this.", proposal=proposal)


TOOLS: Final = (
    Declared(key="promptUser", function=prompt_user, group="ask", repeatable=True),
    Declared(key=REMEMBER, function=remember, group=REMEMBER, repeatable=True),
)
