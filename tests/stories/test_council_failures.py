"""What a council does when something fails or runs out, over the wires; each time it says so and keeps what was paid."""

import json

from app.engine.council.outcome import State
from tests.stories.processes import look, moot
from tests.stories.test_council import OPTIONS, QUESTION, THREE, argued, letters, said, verdict
from tests.stories.test_month_limit import limit, server
from tests.wire import Fault, WireServer
from tests.wire.fixtures import call_count, wire_home, wire_servers

__all__ = ["server", "wire_home", "wire_servers"]

SAME = ("-p", "A=openai/openai-wire", "-p", "B=openai/openai-other")


def council_of(events: list[dict[str, object]]) -> dict[str, object]:
    shown = look("show", str(events[0]["session_id"]), "--json").json
    assert isinstance(shown, dict)
    return shown


def test_one_answer_is_too_few_to_compare_and_the_others_can_be_asked_again(
    wire_home: dict[str, WireServer],
) -> None:
    for kind in ("openai", "anthropic", "gemini"):
        reply = said(kind, "") if kind == "openai" else Fault("e401")
        wire_home[kind].script(f"{kind}-wire", lambda _request, reply=reply: reply)
    done = moot("council", QUESTION, *THREE)
    assert "1 of 3 answered" in done.out and "Open" in done.out
    assert call_count(wire_home) == 3
    assert not any("Compare their answers" in json.dumps(one.body) for one in wire_home["openai"].requests)


def test_two_of_three_go_on_and_that_stands_above_the_result(wire_home: dict[str, WireServer]) -> None:
    for kind in ("openai", "anthropic", "gemini"):
        for model in wire_home[kind].models:
            wire_home[kind].script(
                model,
                lambda request, kind=kind: (
                    Fault("e401") if kind == "gemini" else said(kind, str(request.messages[-1]))
                ),
            )
    done = moot("council", QUESTION, *THREE)
    assert done.status == 0, done.err
    assert "does not accept the key" in done.out, "whose answer failed says why"
    assert done.out.index("2 of 3 answered") < done.out.index("Their positions")
    compared = [
        one
        for server in wire_home.values()
        for one in server.requests
        if "Compare their answers" in json.dumps(one.body)
    ]
    assert len(compared) == 1


def test_readings_that_contradict_keep_both_cases_and_neither_choice(
    wire_home: dict[str, WireServer],
) -> None:
    def reading(shown: dict[str, str], text: str) -> str:
        case = {"option": "A", "text": f"{text.count('(1)')} statement says so.", "cites": [1]}
        return json.dumps({"choice": "A", "confidence": 70, "cases": [case]})

    out, council = verdict(wire_home, reading)
    first, second = council["readings"]
    assert first["choice"] != second["choice"] and council["outcome"]["choice"] == ""
    held = {case["option"] for one in (first, second) for case in one["cases"]}
    assert held == {one["id"] for one in council["options"]}, "each order's case is kept"
    assert "changes with the order" in out


def test_a_council_of_one_provider_is_of_one_family_and_judged_by_a_participant(
    wire_home: dict[str, WireServer],
) -> None:
    held = {"openai-wire": OPTIONS[0], "openai-other": OPTIONS[1]}

    def reply(model: str, text: str) -> str:
        if "You judge a question" in text:
            return json.dumps({"choice": letters(text)[OPTIONS[0]], "confidence": 70})
        trailer = json.dumps({"answer": held[model], "confidence": 80})
        return (
            f"{held[model]}, said so.\n@@ {trailer}"
            if not letters(text)
            else str(argued("openai", text, lambda *_: ""))
        )

    for model in held:
        wire_home["openai"].script(model, lambda one, model=model: reply(model, one.messages[-1].text))
    done = moot("council", QUESTION, *SAME, "--no-differences", "--debate", "--rounds", "1", "--json")
    assert done.status == 0, done.err
    result = council_of(done.events)["council"]["outcome"]  # type: ignore[index]
    # Both vote for the first option in the end, which makes a council of one family agreed at best.
    assert (result["state"], result["inside"]) == (State.AGREED_ONE_FAMILY, True)
    assert result["judge"].startswith("openai/")
    assert all(not one.requests for kind, one in wire_home.items() if kind != "openai")
    # Nobody is outside, and that is the reason.
    refused = moot("extend", str(done.events[0]["session_id"]), "check")
    assert refused.status == 2 and "no model of another family. Add a provider" in refused.err


def test_a_months_limit_pauses_before_the_next_call_and_nothing_is_paid_twice(
    server: WireServer, data_dir: object
) -> None:
    limit(data_dir, 0.04)  # type: ignore[arg-type]
    model = server.models[0]
    held = moot("council", QUESTION, "-p", f"A=openai/{model}", "-p", f"B=openai/{model}", "--json")
    assert held.status == 4, held.err
    shown = council_of(held.events)
    assert (shown["status"], shown["reason"]) == ("paused", "budget_month")
    answered = len(server.requests)
    limit(data_dir, 5.0)  # type: ignore[arg-type]
    done = moot("resume", str(held.events[0]["session_id"]), "--json")
    assert done.status == 0, done.err
    shown = council_of(held.events)
    assert shown["council"]["outcome"]["answered"] == 2  # type: ignore[index]
    # Two answers and the comparison.
    assert answered < len(server.requests) == 3


def test_the_limit_of_a_council_pauses_it_and_what_was_paid_stays(server: WireServer) -> None:
    model = server.models[0]
    held = moot(
        "council",
        QUESTION,
        "-p",
        f"A=openai/{model}",
        "-p",
        f"B=openai/{model}",
        "--max-usd",
        "0.04",
        "--json",
    )
    assert held.status == 4, held.err
    shown = council_of(held.events)
    assert (shown["status"], shown["reason"]) == ("paused", "budget_cost")
    assert shown["council"]["outcome"]["answered"] == 2 == len(server.requests)  # type: ignore[index]
    assert moot("resume", str(held.events[0]["session_id"])).status == 4
    assert len(server.requests) == 2
