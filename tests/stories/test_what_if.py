"""What-if rounds on the command line: their price first, who speaks, every verdict kept, and a further one asked for."""

import json

from tests.stories.processes import look, moot
from tests.wire import WireServer
from tests.wire.fixtures import call_count, wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

TOPIC = "Should cities ban private cars from their centres?"
TWO = ("-p", "GPT=openai/openai-wire", "-p", "Claude=anthropic/anthropic-wire")
WHAT_IF = "What if the trams are free?"


def reply(text: str) -> str:
    asked = WHAT_IF in text
    if "You judge a question" in text:
        words = "Ban them, as trams are free." if asked else "Ban them step by step."
        letter = next(line[0] for line in text.splitlines() if line[1:] == ": Yes")
        cases = [{"option": letter, "text": words, "cites": [1]}]
        said = {"choice": letter, "confidence": 70, "cases": cases, "values": False}
        lists = ("agreed", "open", "cruxes", "claims", "unsupported")
        return json.dumps({**said, **{key: [] for key in lists}})
    return "With free trams, yes." if asked else "Yes, in steps."


def test_a_message_after_the_end_begins_a_round_and_every_verdict_stays(
    wire_home: dict[str, WireServer],
) -> None:
    for server in wire_home.values():
        for model in server.models:
            server.script(model, lambda one: reply("\n".join(each.text for each in one.messages)))
    debate = moot(
        "debate", TOPIC, *TWO, "--rounds", "1", "--judge", "openai/openai-wire", "--json", seconds=60
    )
    assert debate.status == 0, debate.err
    session_id = str(debate.events[0]["session_id"])
    before = call_count(wire_home)
    refused = moot("reply", session_id, WHAT_IF, "--to", "Nobody")
    assert refused.status == 2 and "GPT, Claude" in refused.err
    # Two statements, and what the judge read twice.
    assert call_count(wire_home) == before and len(look("show", session_id, "--json").json["messages"]) == 4
    done = moot("reply", session_id, WHAT_IF, "--to", "claude", "--json")
    assert done.status == 0, done.err
    price = done.events[0]
    # One turn, and the judge, who may read it twice.
    assert (price["event"], price["step"], price["calls"]) == ("estimate", "what_if", 3)
    assert call_count(wire_home) == before + 3
    shown = look("show", session_id, "--json").json
    said = [one for one in shown["messages"] if not one["part"]]
    assert [one["author"]["name"] for one in said if one["round"] == 2][1:] == ["Claude"]
    found = shown["decision"]["outcomes"]
    assert [one["text"] for one in found] == ["Ban them step by step.", "Ban them, as trams are free."]
    assert shown["decision"]["outcome"] == found[-1]
    assert [one["after_message"] for one in found] == [said[1]["id"], said[-1]["id"]]
    # One verdict more, after a line with its price; those before it stay.
    again = moot("extend", session_id, "judge")
    assert again.status == 0, again.err
    assert len(look("show", session_id, "--json").json["decision"]["outcomes"]) == 3
    printed = look("show", session_id).out
    assert "Verdict 1, after round 1" in printed and f"Verdict 2, after “{WHAT_IF}”" in printed
    assert "What changed since verdict 2" in printed and "Ban them step by step." in printed
    # Who helps a debate is kept for what is asked of it later.
    helper = "anthropic/anthropic-wire"
    assert moot("extend", session_id, "judge", "--helper", helper).status == 0
    assert look("show", session_id, "--json").json["decision"]["helpers"]["merge"] == helper
    assert moot("extend", session_id, "solo").status == 2
