"""Classifies the errors of model calls as Moot's kinds of failure; used by the model host.

Recognises LiteLLM's exceptions by name and attributes, so that it can be tested without LiteLLM.
"""

import ast
import email.utils
import json
import re
import time
from collections.abc import Iterator, Mapping
from functools import partial

from app.core.catalog import KEY_STARTS
from app.core.errors import FailureKind, ProviderError

_DETAIL_CHARACTERS = 300

_said = partial(re.compile, flags=re.IGNORECASE)
_NETWORK = {"ConnectError", "ConnectTimeout", "ProxyError", "ClientConnectionError", "ClientOSError"}
_NETWORK |= {"ClientConnectorError", "ClientPayloadError"}
# The connection was there and broke: the server is running, so that asking again may help.
_RESET = {"ReadError", "WriteError", "RemoteProtocolError", "ServerDisconnectedError"}
_CONTEXT = _said(
    r"context_length_exceeded|max(imum)? (context|prompt|model|input) length|context window"
    r"|(prompt|input|request|conversation|messages) (is |are |was )?too (long|large)|request body too large"
    r"|exceed\w{0,3} (the )?(available |maximum )?(context|max length|model token limit)|too long to fit"
    r"|exceeds the maximum number of tokens|input token count|greater than the context length"
    r"|token count of [\d,]{1,12} exceeds|tokens \+ .max_new_tokens. must be|tokens_limit_reached"
    r"|reduce the length of the (messages|prompt|input)|range of input length|max_prompt_tokens_exceeded"
)
_TOO_LARGE = _said(r"(request|message) too large(?s:.{0,300})(per (minute|min|day|hour)\b|\bTP[MD]\b)")
_FLAGGED = _said(r"\bflagged\b|moderation")
_LLAMA_WINDOW = re.compile(r"""n_ctx\\?["']: ?(\d{1,9})""")
_FILTER = _said(
    r"content_policy_violation|content_filter|content management policy|safety system"
    r"|blocked by .{0,20}policy"
)
_AUTHENTICATION = _said(
    r"invalid_api_key|API_KEY_INVALID|API key not valid|authentication_error|incorrect api key"
    r"|invalid x-api-key"
)
_QUOTA = _said(
    r"insufficient_quota|billing_hard_limit|credit balance is too low|insufficient credits|out of credits"
    r"|check your plan and billing"
)
_OVERLOADED = _said(r"overloaded|model is currently loading|loading model|model is loading|at capacity")
_MODEL = _said(
    r"model_not_found|model .{0,80}(does not exist|not found)|not_found_error|is not found for API"
)
_RATE = _said(r"rate_limit|RESOURCE_EXHAUSTED|too many requests")
_UNREADABLE = _said(r"JSONDecodeError|Expecting value|Expecting property name|Unterminated string")
# What says of which kind a failure is, the surest first: its status, the names of its exceptions, its words.
_SIGNS: tuple[tuple[str, tuple[int, ...], tuple[str, ...], re.Pattern[str] | None], ...] = (
    (FailureKind.TOO_LARGE, (), (), _TOO_LARGE),
    (FailureKind.CONTEXT_WINDOW, (413,), ("ContextWindowExceededError",), _CONTEXT),
    (FailureKind.CONTENT_FILTER, (), ("ContentPolicyViolationError",), _FILTER),
    (FailureKind.AUTHENTICATION, (401,), (), _AUTHENTICATION),
    (FailureKind.QUOTA, (402,), (), _QUOTA),
    (FailureKind.RATE_LIMIT, (429,), (), _RATE),
    (FailureKind.PERMISSION, (403,), (), None),
    (FailureKind.MODEL_NOT_FOUND, (404,), (), _MODEL),
    (FailureKind.OVERLOADED, (529,), (), _OVERLOADED),
    (FailureKind.BAD_RESPONSE, (), ("JSONDecodeError", "APIResponseValidationError"), _UNREADABLE),
    (FailureKind.NO_ANSWER, (408,), ("Timeout", "APITimeoutError", "TimeoutError"), None),
)
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"(\d+(?:\.\d+)?)s"')
_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w+Exception\s+)?\w*(?:Error|Exception)\s*(?::|-)\s*")
_SUFFIX = re.compile(r"Original exception:|Handle with `litellm")
_MESSAGE = re.compile(r'"message"\s*:\s*("(?:[^"\\]|\\.)*")')
_STATUS = re.compile(r"^Error code: \d+ - (?=[\[{])")
_LITERAL = re.compile(r"""^(?:b(?P<quote>['"]).*(?P=quote)|\{.*\}|\[.*\])$""", re.DOTALL)
_LONGEST_LITERAL = 100_000
_LONGEST_TITLE = 1_000
# No provider means a longer wait, in seconds: what says so is a mistake, such as the year 99999.
_LONGEST_WAIT = 366 * 86_400.0
# The fields that hold a server's words, the likeliest first.
_WORDS = ("message", "error", "detail", "msg", "errors")
_DISTRUSTED = _said(r"certificate verify failed: ([\w ,'.:-]{1,120})")
_ABOUT_MODEL = _said(r"model|no endpoints found|deployment|\b(ollama )?pull")
_KEY_LIKE = re.compile(rf"\b(?:{'|'.join(map(re.escape, ('key-', *KEY_STARTS)))})[\w\-]{{8,}}")


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all its causes, the outermost first, each once."""
    seen: set[int] = set()
    todo: list[BaseException] = [error]
    while todo:
        current = todo.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        causes = (getattr(current, "original_exception", None), current.__cause__, current.__context__)
        todo += [cause for cause in causes if isinstance(cause, BaseException)]


def classify(error: BaseException, secrets: tuple[str, ...] = ()) -> ProviderError:
    """Classify an exception; `secrets` never appear in the detail."""
    causes = list(chain(error))
    for cause in causes:
        if type(cause).__name__ == "RedirectRefused":
            return ProviderError(FailureKind.REDIRECTED, readable(str(cause), secrets))
        if type(cause).__name__ == "BodyTooLong":
            return ProviderError(FailureKind.BAD_RESPONSE, str(cause))
    text = "\n".join(str(cause) for cause in causes)
    if distrusted := _DISTRUSTED.search(text):
        return ProviderError(FailureKind.CERTIFICATE, distrusted[1])
    names = {name for cause in causes for name in (base.__name__ for base in type(cause).__mro__)}
    status = next((code for code in map(_status, reversed(causes)) if code), None)
    wait = retry_after(causes)
    kind, detail = _explained(_kind(causes, names, status, text, wait), readable(str(error), secrets), text)
    if kind == FailureKind.CONTEXT_WINDOW:
        return ProviderError(kind, detail, wait)
    # When a connection is lost, only the first cause is informative.
    lost = (FailureKind.NETWORK, FailureKind.INTERRUPTED)
    told = str(causes[-1]) if kind in lost else _behind_router(causes)
    if any(type(cause).__name__ == "ClientPayloadError" for cause in causes):
        # The kind's own text, in the user's language, says everything.
        return ProviderError(kind, "", wait)
    return ProviderError(kind, readable(told, secrets) if told else detail, wait)


def _behind_router(causes: list[BaseException]) -> str:
    """Return the words of a server that a router passes on, which LiteLLM leaves out; ""
    where there are none.
    """
    bodies = (getattr(cause, "body", None) for cause in causes)
    return next((_words(body) for body in bodies if isinstance(body, dict) and body.get("metadata")), "")


def classify_status(
    status: int, body: str, headers: Mapping[str, str], secrets: tuple[str, ...] = ()
) -> ProviderError:
    """Classify a refusal that was received without LiteLLM."""
    wait = _seconds(headers) or _delay_in(body)
    kind, detail = _explained(_kind_of_status(status, set(), body, wait), readable(body, secrets), body)
    return ProviderError(kind, detail, wait)


def _explained(kind: str, words: str, text: str) -> tuple[str, str]:
    """Return the kind of a failure and the server's words, by what these and the whole text say besides."""
    if kind == FailureKind.MODEL_NOT_FOUND and not _ABOUT_MODEL.search(words):
        return FailureKind.WRONG_PATH, words
    # llama.cpp names the window in a field beside its words.
    window = _LLAMA_WINDOW.search(text) if kind == FailureKind.CONTEXT_WINDOW else None
    return kind, f"{words} (n_ctx: {window[1]})" if window and window[1] not in words else words


def _kind(
    causes: list[BaseException], names: set[str], status: int | None, text: str, wait: float | None
) -> str:
    kinds = {type(cause).__name__ for cause in causes}
    refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
    if not refused and (kinds & _RESET or any(isinstance(cause, ConnectionError) for cause in causes)):
        return FailureKind.INTERRUPTED
    broken = any(isinstance(cause, OSError) and not isinstance(cause, TimeoutError) for cause in causes)
    return FailureKind.NETWORK if broken or kinds & _NETWORK else _kind_of_status(status, names, text, wait)


def _kind_of_status(status: int | None, names: set[str], text: str, wait: float | None) -> str:
    for kind, statuses, errors, words in _SIGNS:
        # Gemini says "check your plan and billing" for a short limit too, but then it also says how long to
        # wait; and a server that calls a request bad may name a model besides.
        unsure = wait is not None if kind == FailureKind.QUOTA else status == 400
        doubtful = unsure and kind in (FailureKind.QUOTA, FailureKind.MODEL_NOT_FOUND)
        said = words is not None and not doubtful and words.search(text)
        if said or status in statuses or not names.isdisjoint(errors):
            flagged = kind == FailureKind.PERMISSION and _FLAGGED.search(text)
            return FailureKind.PROMPT_BLOCKED if flagged else kind
    if status is not None and (status < 500 or status in (501, 505)):
        return FailureKind.BAD_REQUEST
    return FailureKind.NETWORK if status is None and "APIConnectionError" in names else FailureKind.SERVER


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None) or getattr(error, "status", None)
    return status if isinstance(status, int) and 400 <= status < 600 else None


def retry_after(causes: list[BaseException]) -> float | None:
    """Return how many seconds the provider asked to wait, None when it did not."""
    for cause in causes:
        own = (getattr(cause, name, None) for name in ("litellm_response_headers", "headers"))
        for headers in (*own, getattr(getattr(cause, "response", None), "headers", None)):
            seconds = _seconds(headers) if isinstance(headers, Mapping) else None
            if seconds is not None:
                return seconds
    return next((delay for delay in (_delay_in(str(cause)) for cause in causes) if delay is not None), None)


def _seconds(headers: Mapping[str, str]) -> float | None:
    values = {str(name).lower().removeprefix("llm_provider-"): str(value) for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = values.get(name, "")
        try:
            return _bounded(float(value) * unit)
        except ValueError:
            if (seconds := _until(value)) is not None:
                return seconds
    return None


def _until(date: str) -> float | None:
    """Return the seconds until a date of a header, None where it is none."""
    parsed = email.utils.parsedate_tz(date)
    try:
        return _bounded(email.utils.mktime_tz(parsed) - time.time()) if parsed is not None else None
    except (ValueError, OverflowError):
        return _LONGEST_WAIT


def _bounded(seconds: float) -> float:
    # The order also makes 0 of what is not a number.
    return min(max(0.0, seconds), _LONGEST_WAIT)


def _delay_in(text: str) -> float | None:
    match = _RETRY_DELAY.search(text.replace('\\"', '"'))
    return _bounded(float(match[1])) if match else None


def redact(text: str, secrets: tuple[str, ...]) -> str:
    """Remove the secrets and everything that looks like a key."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "[key]")
    return _KEY_LIKE.sub("[key]", text)


def readable(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return the provider's own words from an exception's text: short, on one line, without keys."""
    text = redact(text, secrets).strip()
    if suffix := _SUFFIX.search(text):
        text = text[: suffix.start()].rstrip().removesuffix(".")
    while match := _PREFIX.match(text):
        text = text[match.end() :]
    text = _STATUS.sub("", text)
    if _LITERAL.match(text):
        text = _words(_evaluated(text)) or text
    if match := _MESSAGE.search(text):
        try:
            text = str(json.loads(match[1]))
        except ValueError:
            text = match[1]
    if re.search(r"<html|<!doctype", text, re.IGNORECASE):
        begin = re.search("<title>", text, re.IGNORECASE)
        title = text[begin.end() :][:_LONGEST_TITLE] if begin else ""
        text = re.split("</title>", title, maxsplit=1, flags=re.IGNORECASE)[0].strip()
    return " ".join(text.split())[:_DETAIL_CHARACTERS]


def _evaluated(text: str) -> object:
    """Return what a text in JSON stands for, or one in Python's notation, which the libraries make
    of JSON and bytes.
    """
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text[:_LONGEST_LITERAL])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, bytes):
            said = value.decode(errors="replace").strip()
            return _evaluated(said) if _LITERAL.match(said) else said
        return value
    return text


def _words(value: object) -> str:
    """Return the innermost words of a server in the body of an error, "" where there are none."""
    if isinstance(value, str):
        # A router puts the body of the server behind it into its own, as text.
        inner = _evaluated(value.strip()) if _LITERAL.match(value.strip()) else value
        return value if isinstance(inner, str) else _words(inner) or value
    if isinstance(value, list):
        return "; ".join(filter(None, map(_words, value[:3])))
    if not isinstance(value, dict):
        return ""
    metadata, place = value.get("metadata"), value.get("loc")
    if isinstance(metadata, dict) and (innermost := _words(metadata.get("raw"))):
        return innermost
    words = next(filter(None, (_words(value.get(name)) for name in _WORDS)), "")
    if words and isinstance(place, list | tuple):
        # FastAPI's own form: where in the request the fault is, and what it is.
        field = ".".join(str(part) for part in place if part != "body")
        return f"{field}: {words}" if field else words
    return words
