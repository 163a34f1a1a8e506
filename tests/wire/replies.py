"""What a wire server may be told to answer: a good answer, or one of the faults of real life."""

import re
from dataclasses import dataclass

FAULTS: dict[str, str] = {
    "rate429": "refused: too many requests; `retry_after` seconds are named the provider's way",
    "quota429": "refused: the account has no credit",
    "e500": "refused: internal error",
    "e503html": "refused: a proxy's HTML page with 503",
    "e529": "refused: overloaded",
    "e401": "refused: wrong key, which is echoed",
    "e403": "refused: no permission",
    "e404": "refused: unknown model",
    "ctx": "refused: the prompt is too long",
    "cfilter": "refused: content policy",
    "rstearly": "the connection is reset before any header",
    "noheaders": "nothing ever comes",
    "pingsonly": "headers and pings, never a word",
    "rstmid": "words, then the connection is reset",
    "eofmid": "words, then the connection ends in the middle of a chunk",
    "stall": "words, then silence",
    "stallping": "words, then pings for ever",
    "cleancut": "words, then an orderly end without a reason to finish",
    "badjson": "words, then an event that is not JSON, then the end",
    "inerror": "words, then an error object",
    "cfilterfinish": "words, then the content filter as the reason to finish",
    "length": "words, then the token limit as the reason to finish",
    "html200": "a login page with 200",
    "empty": "a whole answer without a word",
}

ODD_CALLS = ("whole", "same_index", "no_index", "no_id", "duplicate_id", "every_name")


@dataclass(frozen=True, slots=True)
class WireCall:
    """A tool call: `arguments` is JSON text, an empty `id` is made up the provider's way."""

    name: str
    arguments: str = "{}"
    id: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A good answer, sent in `pieces` characters each, its thinking first, its calls last.

    With `thinking` Anthropic signs it and Gemini the first call; `redacted` is thinking that only
    Anthropic can read. `odd` is one of ODD_CALLS: how some OpenAI-compatible servers send calls. `delay` are seconds before the headers, `pings` seconds with nothing but pings before the first word, `pace` seconds between pieces; with `split_bytes` the
    stream is cut into writes of one byte, in the middle of characters too. Without `usage` OpenAI's
    protocol names no tokens, as many servers do not.
    """

    text: str = ""
    delay: float = 0.0
    pings: float = 0.0
    pace: float = 0.0
    calls: tuple[WireCall, ...] = ()
    odd: str = ""
    thinking: str = ""
    redacted: str = ""
    finish: str = "stop"
    pieces: int = 0
    split_bytes: bool = False
    input_tokens: int = 12
    output_tokens: int = 0
    reasoning_tokens: int = 0
    usage: bool = True

    def parts(self) -> list[str]:
        """Return the text in pieces: of `pieces` characters, or word by word."""
        if self.pieces:
            return [self.text[at : at + self.pieces] for at in range(0, len(self.text), self.pieces)]
        return (
            re.findall(r"\s*\S+\s*$|\s*\S+", self.text)
            if self.text.strip()
            else [self.text] * bool(self.text)
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """One of FAULTS; `text` are the words that come before it where there are any, then half of `call`."""

    name: str
    retry_after: float | None = None
    text: str = "Partial words"
    delay: float = 0.0
    call: WireCall | None = None

    def __post_init__(self) -> None:
        if self.name not in FAULTS:
            raise ValueError(f"no fault of that name: {self.name}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal in these words, in the form of the provider's errors."""

    status: int
    words: str
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer byte by byte as a server of another maker sends it, whatever the protocol says."""

    body: bytes
    content_type: str = "text/event-stream"
    status: int = 200
    delay: float = 0.0


Reply = Answer | Fault | Refusal | Raw | str
