"""What of a long conversation, and of the files of a message, a model is sent; pure.

Above a limit a summary, a message beside the tree of turns, stands for all turns up to the one it names. In a
long turn a line stands in place of each early result, then notes in place of its beginning. How many tokens a
model reads is estimated, and corrected by what providers report.
"""

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from math import ceil
from typing import NamedTuple, TypeGuard

from app.core.files import LONG_TEXT, PDF, can_be_sent, first_pages, numbered, page_count, with_page_numbers
from app.core.frozen import Frozen
from app.core.message import Attachment, Message, MessageState, Role, SummaryNote, ToolCall
from app.core.provider import ModelFacts, ModelRequest
from app.core.session import Chat
from app.core.settings import HistoryLength, Settings
from app.core.texts import Texts, amount_text, visible
from app.core.tool import READ_FILE_PART
from app.engine.library.agents import AgentModel
from app.engine.live_session import LiveSession
from app.engine.prompts import Lines

# Tokens a character takes, measured with the tokenizers of six families of models.
_LETTER, _DIGIT, _SIGN, _SPACE, _OTHER = 0.265, 1.1, 0.5, 0.1, 1.0
# Hangul, where it takes more or less beside other letters than it does for most models.
_HANGUL_OF = {"claude": 1.5, "gemma": 0.88}
_NEW_CLAUDE = 1.3

# What a message has beside its words, and what a picture takes, and a page of a PDF file with its text.
_FRAME = 4
PICTURE_TOKENS = 1_000
_PAGE = 2_000

# Of a request of so many tokens at least, a server that reports less than this share has cut the beginning.
_LEAST_CUT, _CUT = 2_000, 0.7
# The fewest tokens that a known tokenizer makes of a letter, a digit, a sign and any other character.
_FEWEST_OF = (0.25, 0.33, 0.1, 0.5)

# A report outside of these has another meaning, such as the tokens without those that were cached.
_BELIEVED = (0.6, 1.7)
_LEAST_LEARNT = 100

_MOST_PIECES = 256

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = b"0123456789"
_SPACES = b" \t\n\r\x0b\x0c"
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]+")
_CLAUDE = re.compile(r"claude-(opus|sonnet|haiku)-(\d+)(?:[-.](\d{1,2})(?!\d))?")


def tokens_of(text: str, model: str = "") -> int:
    """Return about how many tokens a text has for a model; "" for any."""
    return _counted_before(text).tokens(model)


class Count(NamedTuple):
    """How many characters of each kind a text has."""

    # Letters, digits, white space and all other characters of ASCII.
    letters: int = 0
    digits: int = 0
    spaces: int = 0
    signs: int = 0
    # What is not in ASCII: Hangul, and the rest.
    hangul: int = 0
    others: int = 0

    def tokens(self, model: str = "") -> int:
        """Return about how many tokens the text has for a model; "" for any."""
        plain = _LETTER * self.letters + _DIGIT * self.digits + _SPACE * self.spaces + _SIGN * self.signs
        hangul = next((weight for name, weight in _HANGUL_OF.items() if name in model), _OTHER)
        whole = plain + self.others * _OTHER + self.hangul * hangul
        return ceil(whole * (_NEW_CLAUDE if _has_new_tokenizer(model) else 1))


def count_of(text: str) -> Count:
    """Return how many characters of each kind a text has."""
    ascii_text = text.encode("ascii", "ignore")
    letters, digits, spaces = (_count_in(ascii_text, kind) for kind in (_LETTERS, _DIGITS, _SPACES))
    hangul = 0 if len(ascii_text) == len(text) else len(text) - len(_HANGUL.sub("", text))
    signs = len(ascii_text) - letters - digits - spaces
    return Count(letters, digits, spaces, signs, hangul, len(text) - len(ascii_text) - hangul)


class GrowingText:
    """Counts a text that comes in pieces, of which it keeps only the last ones."""

    def __init__(self) -> None:
        self._count = Count()
        self._pieces: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, piece: str) -> None:
        """Add a piece."""
        # To count many pieces at once takes little longer than to count a single one.
        if len(self._pieces) > _MOST_PIECES:
            self._count, self._pieces = self.count, []
        self._pieces.append(piece)

    @property
    def count(self) -> Count:
        """How many characters of each kind the text has so far."""
        return Count(*map(operator.add, self._count, count_of("".join(self._pieces))))


# A request repeats nearly all texts of the one before it.
_counted_before = lru_cache(maxsize=4_096)(count_of)


def _count_in(text: bytes, kind: bytes) -> int:
    return len(text) - len(text.translate(None, kind))


def _has_new_tokenizer(model: str) -> bool:
    """Whether it is a Claude whose tokenizer makes more tokens of a text: Opus 4.7, Sonnet 5
    and those after them.
    """
    found = _CLAUDE.search(model)
    if found is None:
        return False
    version = (int(found[2]), int(found[3] or 0))
    return version >= ((4, 7) if found[1] == "opus" else (5, 0))


def request_tokens(request: ModelRequest) -> int:
    """Return about how many tokens a model reads of a request."""
    tokens = 0
    for message in request.messages:
        tokens += _FRAME + content_tokens(message.get("content"), request.model)
        if calls := message.get("tool_calls"):
            tokens += tokens_of(_as_json(calls), request.model)
    return tokens + sum(tokens_of(_as_json(tool), request.model) for tool in request.tools)


def fewest_tokens(request: ModelRequest) -> int:
    """Return how many tokens any model reads at least of a request's texts; pictures and tools are left
    out.
    """
    return int(sum(_fewest_in(message.get("content")) for message in request.messages))


def _fewest_in(content: object) -> float:
    if isinstance(content, list | tuple):
        return sum(map(_fewest_in, content))
    text = content.get("text") if isinstance(content, Mapping) else content
    if not isinstance(text, str):
        return 0.0
    count = count_of(text)
    others = count.hangul + count.others
    counts = (count.letters, count.digits, count.signs, others)
    return sum(each * least for each, least in zip(counts, _FEWEST_OF, strict=True))


def content_tokens(content: object, model: str) -> int:
    """Return the tokens of a message's content: a text, or a list of texts, pictures and PDF files."""
    if isinstance(content, list | tuple):
        return sum(content_tokens(part, model) for part in content)
    if isinstance(content, Mapping):
        text = content.get("text")
        if isinstance(text, str):
            return tokens_of(text, model)
        pages = content.get("pages")
        return _PAGE * pages if isinstance(pages, int) else PICTURE_TOKENS
    return tokens_of(content, model) if isinstance(content, str) else 0


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


class TokenCount:
    """Corrects estimates by what the provider reported for the last request of the same session and model.

    A request is the last one and what is new: corrected by the same factor, their sum is what was reported
    for the last and the estimate of what is new, in the provider's tokens.
    """

    def __init__(self) -> None:
        self._of_session: dict[tuple[str, str, str], float] = {}
        self._of_model: dict[tuple[str, str], float] = {}

    def learn(self, session_id: str, request: ModelRequest, reported: int) -> None:
        """Learn from the tokens that a provider reported for a request."""
        estimated = request_tokens(request)
        if estimated < _LEAST_LEARNT or not _BELIEVED[0] <= reported / estimated <= _BELIEVED[1]:
            return
        factor = reported / estimated
        self._of_session[session_id, request.provider, request.model] = factor
        self._of_model[request.provider, request.model] = factor

    def is_cut(self, session_id: str, request: ModelRequest, reported: int) -> bool:
        """Whether a server that reports so many tokens, with those of its cache,
        has left out the beginning of a request.

        As long as the model's tokenizer is not known from other reports, the fewest tokens that any would
        make count.
        """
        learnt = self.factor(session_id, request.provider, request.model) != 1.0
        sent = self.of(session_id, request) if learnt else fewest_tokens(request)
        return sent >= _LEAST_CUT and 0 < reported < _CUT * sent

    def factor(self, session_id: str, provider: str, model: str) -> float:
        """Return what estimates of a session are multiplied with; 1 as long as nothing was reported."""
        of_model = self._of_model.get((provider, model), 1.0)
        return self._of_session.get((session_id, provider, model), of_model)

    def of(self, session_id: str, request: ModelRequest) -> int:
        """Return about how many tokens a request of a session has."""
        return ceil(request_tokens(request) * self.factor(session_id, request.provider, request.model))


# The kind of the author of a debate's running notes.
NOTES = "notes"

# Tokens of a conversation that are sent before it is summarised.
SOFT_LIMITS = {HistoryLength.THRIFTY: 24_000, HistoryLength.DEFAULT: 64_000}
# Of a window, what a request may fill; the rest is for what counting gets wrong.
_FILLED = 0.9
_MOST_RESERVED = 32_000
_USUAL_OUTPUT = 4_096

# What stays as it was said behind a summary: so much of the limit, and never more.
_KEPT = 0.25
_MOST_KEPT = 10_000
# A summary is worth its cost only where it stands for much of the limit, and is much shorter than what it
# stands for.
LEAST_REPLACED = 0.2
LEAST_TOKENS = 500
MOST_LEFT = 0.6

# What is quoted of the user, in tokens and at most a part of the limit, and how an extract shortens messages,
# in characters.
QUOTED = 4_000
QUOTED_SHARE = 16
_FIRST, _LATER, _LAST_ANSWER = 2_000, 200, 400


class PastTurn(Frozen, kw_only=False):
    """A turn as it is sent: its id, its tokens, whether it is the user's, and its messages."""

    turn_id: str
    tokens: int
    by_user: bool
    messages: Sequence[Message]


def reserve_of(facts: ModelFacts) -> int:
    """Return how many tokens of a window are kept free for the answer."""
    return min(facts.most_output or _USUAL_OUTPUT, _MOST_RESERVED, facts.window // 4)


def fits(facts: ModelFacts) -> int:
    """Return how many tokens a request to a model may have."""
    return int(_FILLED * facts.window) - reserve_of(facts)


def limit_for(facts: ModelFacts, chat: Chat | None, settings: Settings) -> int:
    """Return how many tokens a request to a model may have before it is made shorter, in a chat or (None)
    elsewhere.

    One that is longer than the tier of the model's prices would cost more.
    """
    room = fits(facts)
    wanted = SOFT_LIMITS.get(HistoryLength((chat and chat.history) or settings.history), room)
    tier = facts.prices.tier if facts.prices else 0
    return min(room, wanted, tier or room)


def summary_for(live: LiveSession, path: Iterable[str], agent_id: str) -> Message | None:
    """Return the summary that a speaker gets of a path of turns, newest first: the one that stands
    for most of them.

    Of several of the same turns its own comes first, then the newest.
    """
    for turn_id in path:
        whole = (summary for summary in usable_summaries(live, turn_id) if not summary.through_message)
        usable = [message for message in whole if message.agent_id in ("", agent_id)]
        if usable:
            return max(usable, key=lambda message: (bool(message.agent_id), message.id))
    return None


def is_usable(live: LiveSession, summary: Message) -> bool:
    """Whether a summary is whole and the user has not put it aside."""
    whole = summary.state == MessageState.DONE and bool(summary.content.strip())
    return whole and summary.id not in live.session.unused_summaries


def usable_summaries(live: LiveSession, turn_id: str) -> list[Message]:
    """Return the summaries of all up to a turn or of its beginning that can be used, the oldest first."""
    return [summary for summary in live.turns.summaries(turn_id) if is_usable(live, summary)]


def turns_to_replace(turns: Sequence[PastTurn], limit: int, most: int | None = None) -> int:
    """Return how many of the oldest turns a summary is to stand for, 0 for none.

    The newest turns stay, up to a quarter of the limit and one at least, and with them the user's newest
    message and all after it unless that alone is most of the limit. At most `most` tokens are replaced, where
    given.
    """
    kept = min(int(_KEPT * limit), _MOST_KEPT)
    sums = list(accumulate(turn.tokens for turn in reversed(turns)))
    place = len(turns) - max(1, sum(total <= kept for total in sums))
    asked = max((at for at, turn in enumerate(turns) if turn.by_user), default=0)
    if place > asked and sums[len(turns) - 1 - asked] <= MOST_LEFT * limit:
        place = asked
    place = next((at for at in range(place, asked + 1) if turns[at].by_user), place)
    if most is not None:
        fitting = sum(total <= most for total in accumulate(turn.tokens for turn in turns))
        place = min(place, max(1, fitting)) if place else 0
    elif sum(turn.tokens for turn in turns[:place]) < max(LEAST_TOKENS, LEAST_REPLACED * limit):
        return 0
    return place


def quotes(messages: Sequence[Message], limit: int) -> list[str]:
    """Return what the user said, word for word: the newest messages, as many
    as a summary may quote below a limit.
    """
    most = min(QUOTED, limit // QUOTED_SHARE)
    found: list[str] = []
    for message in reversed(messages):
        text = message.content.strip()
        if not message.by_user or not text:
            continue
        most -= tokens_of(text)
        if most < 0:
            break
        found.insert(0, text)
    return found


def extract(messages: Sequence[Message], before: str, heading: str) -> str:
    """Return a summary made without a model: the user's messages and each speaker's last answer, shortened.

    `before` is the summary of what came earlier, `heading` is the line above what the user said.
    """
    said = [message.content.strip() for message in messages if message.by_user and message.content.strip()]
    cut = [_cut(text, _LATER if place or before else _FIRST) for place, text in enumerate(said)]
    while len(cut) > 2 and sum(map(tokens_of, cut)) > QUOTED:
        # The first message says what it is about, and the newest count most.
        del cut[1]
    ended = (item for item in messages if item.role == Role.ASSISTANT and item.state == MessageState.DONE)
    last = {item.author.name: item.content.strip() for item in ended if item.content.strip()}
    parts = [_cut(before, 4 * _FIRST)] if before else []
    parts += ["\n".join((heading, *(f"- {text}" for text in cut)))] if cut else []
    parts += [f"[{name}]: {_cut(text, _LAST_ANSWER)}" for name, text in last.items()]
    return "\n\n".join(parts)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rstrip() + " …"


def summary_line(summary: Message, texts: Texts) -> str:
    """Return in one line that a summary stands here, and how many tokens it has in place of how many."""
    after = tokens_of(summary.content, summary.model)
    key = "summary.pruned" if summary.note == SummaryNote.PRUNED else "summary.here"
    key = "summary.notes" if summary.author.kind == NOTES else key
    key = "summary.own" if summary.agent_id and not summary.through_message else key
    before, now = f"{summary.replaces or 0:,}", f"{after:,}"
    return texts(key, name=visible(summary.author.name), before=before, after=now)


# The newest calls whose results stay whole, and what is left of the others, in characters.
KEPT_CALLS = 10
_LINE = 200
_ARGUMENTS = 100
_LEAST = 400


def pruned_calls(messages: Sequence[Message], summaries: Sequence[Message]) -> frozenset[str]:
    """Return the ids of a turn's calls whose results are sent as one line."""
    ends = {summary.through_message for summary in summaries if summary.through_message}
    last = max((place for place, message in enumerate(messages) if message.id in ends), default=-1)
    return frozenset(message.tool_call_id for message in messages[: last + 1] if message.tool_call_id)


def turn_notes(messages: Sequence[Message], summaries: Sequence[Message]) -> tuple[Message | None, int]:
    """Return the notes that stand for most of a turn's beginning, None for none, and the place
    of the first message behind them; of several of the same the newest.
    """
    places = {message.id: place for place, message in enumerate(messages, 1)}
    notes = [item for item in summaries if item.through_message in places and item.note != SummaryNote.PRUNED]
    if not notes:
        return None, 0
    last = max(notes, key=lambda message: (places[message.through_message], message.id))
    return last, places[last.through_message]


def part_to_note(messages: Sequence[Message]) -> Message | None:
    """Return the last message of a turn that notes are to stand for with its results, None for none:
    the newest calls stay, as when results are shortened.
    """
    groups = [message for message in messages if message.tool_calls and message.state == MessageState.DONE]
    place = len(groups) - min(KEPT_CALLS, len(groups) // 2)
    return groups[place - 1] if 0 < place < len(groups) else None


def results_to_prune(
    messages: Sequence[Message], summaries: Sequence[Message], limit: int, model: str
) -> tuple[list[Message], int]:
    """Return the results of a turn that are to be shortened, and their tokens; none where
    that saves too little.

    The calls of one answer stay together. The newest ten calls stay whole, or the newer half where there are
    fewer.
    """
    groups = [[call.id for call in message.tool_calls] for message in messages if message.tool_calls]
    kept = min(KEPT_CALLS, len(groups) // 2)
    old = {call_id for group in groups[: len(groups) - kept] for call_id in group}
    old -= pruned_calls(messages, summaries)
    results = [msg for msg in messages if msg.role == Role.TOOL and msg.ended and msg.tool_call_id in old]
    tokens = sum(tokens_of(message.content, model) for message in results if len(message.content) > _LEAST)
    seen = [pic for result in results for pic in result.attachments if can_be_sent(pic.media_type, pic.data)]
    tokens += PICTURE_TOKENS * len(seen)
    return (results, tokens) if tokens >= LEAST_REPLACED * limit else ([], 0)


def short_result(text: str) -> str:
    """Return what is sent in place of a result: its first line and its length."""
    if len(text) <= _LEAST:
        return text
    return f"{text.strip().splitlines()[0][:_LINE]} \u2026 (left out; it had {len(text)} characters)"


def pruned_text(messages: Sequence[Message], results: Sequence[Message], *, brief: bool = False) -> str:
    """Return the text of the record, for people: each call and what is left of its result,
    with `brief` how it begins.
    """
    calls: dict[str, ToolCall] = {call.id: call for message in messages for call in message.tool_calls}
    lines = []
    for result in results:
        call = calls[result.tool_call_id or ""]
        left = result.content.strip()[:_ARGUMENTS] if brief else short_result(result.content)
        lines.append(f"- {call.name}({call.arguments[:_ARGUMENTS]}) \u2192 {left}")
    return "\n".join(lines)


Item = dict[str, object]

# How much of a model's window a file may take.
_SHARE = 0.25


def user_content(message: Message, words: Lines, model: AgentModel, *, partly: bool) -> str | list[Item]:
    """Return what the user said with its files as a model takes them: itself, as pictures, or as text.

    With `partly` the model can read on where it is given only the beginning of a long text.
    """
    texts = [message.content] if message.content.strip() else []
    files: list[Item] = []
    pictures: list[Item] = []
    for attachment in (as_taken(item, model) for item in message.attachments):
        title = words["attachment"].format(name=" ".join(attachment.name.split()))
        parts = _seen_parts(attachment)
        if attachment.data and attachment.media_type == PDF:
            files += parts
        elif parts:
            texts += [title] if attachment.pages else []
            pictures += parts
        else:
            text = _file_text(attachment, words, model, partly=partly)
            is_picture = attachment.media_type.startswith("image/")
            unseen = words["image_unseen"] if is_picture else attachment.media_type
            texts.append(f"{title}\n{(text.strip() and text) or unseen}")
    text = "\n\n".join(texts) or "…"
    return [*files, {"type": "text", "text": text}, *pictures] if files or pictures else text


def returned_pictures(results: Sequence[Message], words: Lines, model: AgentModel) -> list[Item]:
    """Return what a model is sent of the pictures that its tools returned: nothing, or one item
    as the user's.

    Most providers take only text as a tool's result, and all take pictures from the user.
    """
    taken = [pic for result in results for pic in result.attachments if can_be_sent(pic.media_type, pic.data)]
    if not taken or not model.images:
        return []
    names = ", ".join(" ".join(attachment.name.split()) for attachment in taken)
    said = {"type": "text", "text": words["returned_pictures"].format(names=names)}
    pictures = [_picture_part(item.media_type, item.data) for item in taken]
    return [{"role": Role.USER, "content": [said, *pictures]}]


def as_taken(file: Attachment, model: AgentModel) -> Attachment:
    """Return a file with what a model takes of it: a PDF file or a picture itself, pictures of its pages,
    or its text alone.
    """
    if file.data and (model.pdf if file.media_type == PDF else model.images):
        return replace(file, pages=())
    return replace(file, data="", pages=file.pages if model.images else ())


def with_seen(files: Sequence[Attachment], content: object) -> object:
    """Return the content that names context files `as_taken`, after those of them that the model sees."""
    seen = [part for file in files for part in _seen_parts(file)]
    return [*seen, *parts_of(content)] if seen else content


def context_text(file: Attachment, words: Lines) -> str:
    """Return the text of a context file `as_taken`; for one that the model sees, that it does."""
    if file.pages:
        return words["file_pages"].format(count=len(file.pages))
    return words["file_itself"] if file.data else with_page_numbers(file.text.strip(), words["page"])


class LookCost(NamedTuple):
    """What a file that is sent as it looks takes of a model's window with each request: tokens, percent,
    and dollars, None where the price is not known.
    """

    tokens: int
    percent: int
    usd: float | None


def seen_tokens(attachment: Attachment, model: AgentModel) -> int:
    """Return the tokens of what a model sees of a file, 0 where it reads the text."""
    return content_tokens(_seen_parts(as_taken(attachment, model)), model.model)


def look_cost(
    attachment: Attachment, models: Sequence[AgentModel], facts: Callable[[str, str], ModelFacts]
) -> LookCost | None:
    """Return what a file as it looks takes of the window of which it takes most, None where
    that is a quarter at most.
    """
    taken = [(seen_tokens(attachment, item), item) for item in models if item.window]
    large = [(tokens, item) for tokens, item in taken if tokens > _SHARE * item.window]
    if not large:
        return None
    tokens, model = max(large, key=lambda found: found[0] / found[1].window)
    prices = facts(model.provider, model.model).prices
    return LookCost(tokens, round(100 * tokens / model.window), prices.read * tokens if prices else None)


def look_words(cost: LookCost, name: str, words: Callable[..., str]) -> str:
    """Return the warning that a file as it looks takes much of a model's window."""
    said = words("chat.look.large", name=name, tokens=f"{cost.tokens:,}", percent=cost.percent)
    price = words("chat.look.price", amount=amount_text(cost.usd)) if cost.usd else ""
    return " ".join(filter(None, (said, price)))


def files_text(files: Sequence[Attachment], words: Lines, model: AgentModel) -> str:
    """Return files that a whole conversation is given, as text; all of them take no more than a part
    of the window.
    """
    most = int(model.window * _SHARE / len(files)) if model.window else LONG_TEXT
    texts = []
    for file in files:
        cut = len(file.text) > most and tokens_of(file.text, model.model) > most
        text = file.text[:most] + "\n…" if cut else file.text
        title = words["attachment"].format(name=file.name)
        texts.append(f"{title}\n{with_page_numbers(text, words['page'])}")
    return "\n\n".join(texts)


def is_long(text: str, model: AgentModel) -> bool:
    """Say whether a model that can read parts of a file gets only the beginning of this one."""
    if not model.window:
        return len(text) > LONG_TEXT
    room = model.window * _SHARE
    # No character has more than two tokens: most texts need not be counted.
    return len(text) * 2 > room and tokens_of(text, model.model) > room


def _picture_part(media_type: str, data: str) -> Item:
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}


def _seen_parts(file: Attachment) -> list[Item]:
    """Return what a model sees of a file `as_taken`: nothing where it reads the text."""
    if file.data:
        return [_pdf_part(file) if file.media_type == PDF else _picture_part(file.media_type, file.data)]
    return [_picture_part("image/jpeg", page) for page in file.pages]


def _pdf_part(attachment: Attachment) -> Item:
    """Return a PDF file as providers take it; the number of its pages is for the estimate of its tokens."""
    url = f"data:{PDF};base64,{attachment.data}"
    file = {"filename": " ".join(attachment.name.split()), "file_data": url}
    return {"type": "file", "file": file, "pages": page_count(attachment)}


def _file_text(attachment: Attachment, words: Lines, model: AgentModel, *, partly: bool) -> str:
    """Return the text of a file; with `partly`, of a long one only the beginning and how to read on."""
    if not partly or not is_long(attachment.text, model):
        return with_page_numbers(attachment.text, words["page"])
    shown, pages = first_pages(attachment.text)
    more = words["file_long"].format(shown=len(shown), pages=pages, tool=READ_FILE_PART)
    return f"{numbered(shown, words['page'])}\n\n{more}"


def merged(items: Sequence[Item]) -> list[Item]:
    """Return the items with neighbours of one role as one; calls and their results stay alone."""
    found: list[Item] = []
    for item in items:
        last = found[-1] if found else None
        plain = item["role"] != Role.TOOL and "tool_calls" not in item
        if last is None or last["role"] != item["role"] or not plain or "tool_calls" in last:
            found.append(item)
        else:
            # Of two answers the first keeps its provider's state, which belongs in front.
            found[-1] = {**last, "content": _joined(last["content"], item["content"])}
    return found


def as_transcript(items: Sequence[Item]) -> str:
    """Return the items as one text, for a model that has not read them before."""
    said = []
    for item in items:
        texts = [str(part["text"]) for part in parts_of(item["content"]) if _is_text(part)]
        calls = item.get("tool_calls")
        texts += [str(call["function"]) for call in calls] if isinstance(calls, list) else []
        said.append(f"[{item['role']}]\n" + "\n".join(texts))
    return "\n\n".join(said)


def _is_text(part: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(part, Mapping) and bool(part.get("text"))


def _joined(first: object, second: object) -> object:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*parts_of(first), *parts_of(second)]


def parts_of(content: object) -> list[object]:
    """Return the content of an item as a list of its texts and pictures."""
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]
