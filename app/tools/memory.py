"""The tool with which an assistant proposes to remember something; the user decides (`engine/memory`)."""

from typing import Final, Literal

from app.core.memory import MAX_NOTE, REMEMBER, Proposal
from app.core.tool import ToolResult
from app.tools.declared import Declared, checked_text


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
    proposal = Proposal(text=told, folder="folder" if for_ == "folder" else "")
    return ToolResult(content="The user will be asked whether to remember this.", proposal=proposal)


TOOLS: Final = (Declared(key=REMEMBER, function=remember, group=REMEMBER, repeatable=True),)
