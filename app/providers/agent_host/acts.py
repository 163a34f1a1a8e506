"""What an external agent does in one turn, as it reports it: its tool calls, its plan, and what it asks to be allowed."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.core.errors import FailureKind, ProviderError
from app.core.json_values import as_list, as_object
from app.core.message import AGENT_OPTION, Consent, MessageState

_MOST_ACTS = 500
_MOST_ASKS = 20
_TEXT = 2_000
_TITLE = 300
_WHERE = 10
_ASKED = 200_000
_PLAN = "plan"
_MOST_OPTIONS = 10
_ALLOW, _REJECT = "allow_once", "reject_once"
_OPTION_KINDS = (_ALLOW, "allow_always", _REJECT, "reject_always")
_KINDS = frozenset(("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"))
_STATES = {"completed": MessageState.DONE, "failed": MessageState.FAILED}
_CANCELLED: Mapping[str, Any] = {"outcome": "cancelled"}

Report = Mapping[str, Any]


class Acts:
    """Keeps what is known of each act by its id, and tells of it in lines to Moot: `act` and `ask`.

    `answer` sends the program the outcome of a request for permission.
    """

    def __init__(
        self, say: Callable[[Mapping[str, object]], None], answer: Callable[[Any, Report], None]
    ) -> None:
        self._say = say
        self._answer = answer
        self._known: dict[str, dict[str, Any]] = {}
        self._told: dict[str, Mapping[str, object]] = {}
        # The number of each request that waits, and the options by the answers that choose them.
        self._asked: dict[str, tuple[Any, Mapping[str, str]]] = {}
        self._count = 0

    @property
    def busy(self) -> bool:
        """Whether an act runs or a request waits for the user, so that no text is to be expected."""
        running = (one["state"] == MessageState.STREAMING for one in self._told.values())
        return bool(self._asked) or any(running)

    @property
    def any(self) -> bool:
        """Whether anything was reported."""
        return bool(self._told)

    def take(self, update: Report) -> bool:
        """Take a report about an act; return whether it is a new one. Raises ProviderError where there are too many."""
        if update.get("sessionUpdate") == _PLAN:
            return self._tell(_PLAN, _plan(update))
        call_id = update.get("toolCallId")
        if not isinstance(call_id, str) or not call_id:
            return False
        return self._merge(call_id, update)

    def ask(self, number: Any, params: Report) -> None:
        """Take a request for permission; what cannot be put to the user is refused."""
        call = as_object(params.get("toolCall"))
        options = [as_object(one) for one in as_list(params.get("options"))]
        allow, deny = _option(options, _ALLOW), _option(options, _REJECT)
        call_id = call.get("toolCallId")
        known = any(number == one for one, _ in self._asked.values())
        if (
            not isinstance(call_id, str)
            or not call_id
            or not allow
            or known
            or len(self._asked) >= _MOST_ASKS
        ):
            self._answer(number, _chosen(deny))
            return
        self._merge(call_id, call)
        title, arguments = _title(self._known[call_id]), _asked(self._known[call_id])
        if len(arguments) > _ASKED:
            # What the user cannot see as a whole cannot be allowed.
            self._answer(number, _chosen(deny))
            return
        self._count += 1
        ask = str(self._count)
        more = _more(options, (allow, deny))
        answers = {f"{AGENT_OPTION}{place}": option for place, (option, _, _) in enumerate(more, 1)}
        self._asked[ask] = (number, {**answers, Consent.ALLOW: allow, Consent.DENY: deny})
        told = {"id": ask, "act": call_id, "title": title, "arguments": arguments}
        self._say({"ask": {**told, "options": [(kind, name) for _, kind, name in more]}})

    def answer(self, ask: str, answer: str) -> None:
        """Send the user's answer to a request that waits; one that it does not take denies."""
        if ask in self._asked:
            number, answers = self._asked.pop(ask)
            self._answer(number, _chosen(answers.get(answer, answers[Consent.DENY])))

    def cancel(self) -> None:
        """Answer all requests that wait as cancelled."""
        for number, _ in self._asked.values():
            self._answer(number, _CANCELLED)
        self._asked.clear()

    def _merge(self, call_id: str, news: Report) -> bool:
        """Put what is new to what is known of an act, and tell what it looks like now."""
        fields = ("title", "kind", "status", "rawInput", "rawOutput", "locations", "content")
        known = {**self._known.get(call_id, {}), **{name: news[name] for name in fields if news.get(name)}}
        kind = known.get("kind")
        state = _STATES.get(str(known.get("status")), MessageState.STREAMING)
        act = {
            "name": f"agent_{kind if kind in _KINDS else 'other'}",
            "arguments": _shown(known),
            "text": _result(known) if state != MessageState.STREAMING else "",
            "state": state,
        }
        is_new = self._tell(call_id, act)
        # An act has ended once; what is reported of it later changes nothing.
        self._known[call_id] = known
        return is_new

    def _tell(self, act_id: str, act: Mapping[str, object]) -> bool:
        told = self._told.get(act_id)
        if told is None and len(self._told) >= _MOST_ACTS:
            raise ProviderError(FailureKind.INTERRUPTED, f"it reported more than {_MOST_ACTS} tool calls")
        over = told is not None and told["state"] != MessageState.STREAMING and act_id != _PLAN
        if told != act and not over:
            self._told[act_id] = act
            self._say({"act": {"id": act_id, **act}})
        return told is None


def refused(options: Any) -> Report:
    """Return the outcome that refuses a request: the option that rejects this once, else none."""
    return _chosen(_option([as_object(one) for one in as_list(options)], _REJECT))


def _chosen(option: str) -> Report:
    return {"outcome": "selected", "optionId": option} if option else _CANCELLED


def _option(options: Sequence[Mapping[str, Any]], kind: str) -> str:
    """Return the id of the first option of a kind, "" where there is none."""
    found = (one.get("optionId") for one in options if one.get("kind") == kind)
    return next((one for one in found if isinstance(one, str)), "")


def _more(options: Sequence[Mapping[str, Any]], taken: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Return the ids, kinds and names of the options that are not taken, as far as they can be shown."""
    found = []
    for one in options:
        option, kind, name = one.get("optionId"), one.get("kind"), one.get("name")
        known = isinstance(option, str) and option and option not in taken and kind in _OPTION_KINDS
        if known and isinstance(name, str) and name.strip():
            found.append((str(option), str(kind), " ".join(name.split())[:_TITLE]))
    return found[:_MOST_OPTIONS]


def _title(known: Report) -> str:
    """Return the program's words for an act, "" where it gave none."""
    title = known.get("title")
    command = as_object(known.get("rawInput")).get("command")
    words = title if isinstance(title, str) and title.strip() else command if isinstance(command, str) else ""
    return " ".join(words.split())[:_TITLE]


def _paths(known: Report) -> list[str]:
    places = [as_object(one).get("path") for one in as_list(known.get("locations"))[:_WHERE]]
    return [one[:_TITLE] for one in places if isinstance(one, str)]


def _shown(known: Report) -> str:
    shown: dict[str, object] = {"title": _title(known)}
    if paths := _paths(known):
        shown["paths"] = paths
    given = json.dumps(known["rawInput"], ensure_ascii=False) if known.get("rawInput") else ""
    if given:
        shown["input"] = known["rawInput"] if len(given) <= _TEXT else given[:_TEXT] + "…"
    return json.dumps(shown, ensure_ascii=False)


def _asked(known: Report) -> str:
    """Return all of what a program wants to do, as JSON text."""
    wanted: dict[str, object] = {}
    if isinstance(known.get("kind"), str):
        wanted["kind"] = known["kind"][:40]
    if known.get("rawInput"):
        wanted["input"] = known["rawInput"]
    if paths := _paths(known):
        wanted["paths"] = paths
    changes = [
        {"path": one.get("path"), "before": one.get("oldText"), "after": one.get("newText")}
        for one in map(as_object, as_list(known.get("content")))
        if one.get("type") == "diff"
    ]
    if changes:
        wanted["changes"] = changes
    return json.dumps(wanted, ensure_ascii=False)


def _result(known: Report) -> str:
    """Return what came of an act as text: what the program shows, else what its tool gave back."""
    parts = []
    for one in map(as_object, as_list(known.get("content"))):
        text = as_object(one.get("content")).get("text")
        if isinstance(text, str):
            parts.append(text[: _TEXT + 1])
        elif one.get("type") == "diff":
            parts.append(str(one.get("path"))[:_TITLE])
    if not parts and (given := known.get("rawOutput")):
        parts.append(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)[: _TEXT + 1])
    text = "\n".join(parts)
    return text if len(text) <= _TEXT else text[:_TEXT] + "…"


def _plan(update: Report) -> Mapping[str, object]:
    entries = [as_object(one) for one in as_list(update.get("entries"))[:100]]
    items = [str(one.get("content"))[:_TITLE] for one in entries]
    marks = {"completed": "✓", "in_progress": "▸"}
    lines = [
        f"{marks.get(str(one.get('status')), '–')} {item}" for one, item in zip(entries, items, strict=True)
    ]
    return {
        "name": "agent_plan",
        "arguments": json.dumps({"items": items}, ensure_ascii=False),
        "text": "\n".join(lines)[: 2 * _TEXT],
        "state": MessageState.DONE,
    }
