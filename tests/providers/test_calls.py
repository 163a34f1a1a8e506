"""How the pieces of calls become one orderly list; LiteLLM is not imported."""

from types import SimpleNamespace
from typing import Any

from app.providers.model_host.answer import MOST_ARGUMENT_CHARACTERS, MOST_CALLS, Calls, SignedThinking


def piece(
    index: int | None = 0, call_id: str | None = None, name: str | None = None, arguments: str | None = None
) -> Any:
    function = SimpleNamespace(name=name, arguments=arguments)
    return SimpleNamespace(index=index, id=call_id, function=function)


def taken(*pieces: Any) -> list[tuple[int, str, str, str]]:
    calls = Calls()
    return [*(told for one in pieces for told in calls.take([one])), *calls.rest()]


def test_pieces_of_two_calls_may_be_mixed() -> None:
    assert taken(
        piece(0, "a", "f", ""),
        piece(1, "b", "g", "{"),
        piece(0, None, None, '{"x"'),
        piece(1, None, None, "}"),
        piece(0, None, "", ": 1}"),
    ) == [(0, "a", "f", ""), (1, "b", "g", "{"), (0, "", "", '{"x"'), (1, "", "", "}"), (0, "", "", ": 1}")]


def test_whole_calls_that_are_all_numbered_0() -> None:
    assert taken(piece(0, "a", "f", "{}"), piece(0, "b", "f", "{}"), piece(None, "c", "g", "")) == [
        (0, "a", "f", "{}"),
        (1, "b", "f", "{}"),
        (2, "c", "g", ""),
    ]


def test_whole_calls_without_ids_all_numbered_0() -> None:
    told = taken(piece(0, None, "f", '{"x": 1}'), piece(0, None, "f", '{"x": 2}'), piece(0, "", "g", "{}"))
    assert [(number, name, text) for number, _, name, text in told] == [
        (0, "f", '{"x": 1}'),
        (1, "f", '{"x": 2}'),
        (2, "g", "{}"),
    ]
    assert len({call_id for _, call_id, _, _ in told}) == 3 and all(call_id for _, call_id, _, _ in told)


def test_a_name_in_every_piece_is_still_one_call() -> None:
    assert taken(piece(0, "a", "f", '{"x'), piece(0, "a", "f", '": 1}')) == [
        (0, "a", "f", '{"x'),
        (0, "", "", '": 1}'),
    ]
    told = taken(piece(0, None, "f", '{"x'), piece(0, None, "f", '": 1}'))
    assert [text for _, _, _, text in told] == ['{"x', '": 1}'] and {number for number, *_ in told} == {0}


def test_a_name_that_comes_late_or_never() -> None:
    assert taken(piece(0, "a", None, None), piece(0, None, None, "{"), piece(0, None, "f", "}")) == [
        (0, "a", "f", "{}")
    ]
    assert taken(piece(0, "a", None, "{}")) == [(0, "a", "", "{}")]


def test_an_id_that_is_taken_gives_way() -> None:
    told = taken(piece(0, "a", "f", "{}"), piece(1, "a", "g", "{}"), piece(1, None, None, " "))
    assert told[0] == (0, "a", "f", "{}")
    assert told[1][0] == 1 and told[1][1] not in ("", "a")
    assert told[2] == (1, "", "", " ")


def test_a_long_id_stays_as_it_is() -> None:
    long = "call_1__thought__" + "Ab+/=" * 2000
    assert taken(piece(0, long, "f", "{}")) == [(0, long, "f", "{}")]


def test_a_model_that_runs_wild() -> None:
    calls = Calls()
    for _ in range(300):
        calls.take([piece(0, "a", "f", "x" * 10_000)])
    assert sum(len(told[3]) for told in calls.take([piece(0, None, None, "y")])) == 0
    whole = "".join(text for *_, text in taken(*(piece(0, "a", "f", "x" * 9999) for _ in range(200))))
    assert len(whole) == MOST_ARGUMENT_CHARACTERS
    told = taken(*(piece(number, f"id{number}", "f", "{}") for number in range(500)))
    assert len(told) == MOST_CALLS


def test_signed_thinking() -> None:
    signed = SignedThinking()
    assert signed.state() is None
    signed.add([{"type": "thinking", "thinking": "Where"}])
    signed.add(
        [{"type": "thinking", "thinking": "?"}, {"type": "thinking", "thinking": "", "signature": "s1"}]
    )
    signed.add([{"type": "redacted_thinking", "data": "eA=="}])
    signed.add([{"type": "thinking", "thinking": "So"}, {"type": "thinking", "signature": "s2"}])
    signed.add([{"type": "thinking", "thinking": "never signed"}])
    assert signed.state() == {
        "thinking_blocks": [
            {"type": "thinking", "thinking": "Where?", "signature": "s1"},
            {"type": "redacted_thinking", "data": "eA=="},
            {"type": "thinking", "thinking": "So", "signature": "s2"},
        ]
    }
