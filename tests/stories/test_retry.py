"""An answer asked for again in the terminal with another model and effort, killed before it came, and resumed."""

from tests.stories.processes import Running, look, moot
from tests.stories.test_ask import openai, session_of, wire_home, wire_servers
from tests.wire import Answer, WireServer

__all__ = ["openai", "wire_home", "wire_servers"]


def test_what_was_chosen_survives_a_kill(openai: WireServer) -> None:
    openai.script("openai-wire", ["First.", "Usual again."])
    openai.script("openai-other", [Answer("Never heard.", delay=60), "Better."])
    session_id = session_of(moot("ask", "guide", "Which one?", "--json"))
    with Running(
        "retry", session_id, "--model", "openai/openai-other", "--effort", "high", "--json"
    ) as running:
        assert running.wait_for(lambda: len(openai.requests) == 2)
        running.kill()
    done = moot("resume", session_id)
    assert (done.status, done.err) == (0, "") and "Better." in done.out
    assert moot("ask", "guide", "And now?", "--session", session_id).status == 0
    asked = [(one.model, one.body.get("reasoning_effort")) for one in openai.requests]
    chosen = ("openai-other", "high")
    assert asked == [("openai-wire", None), chosen, chosen, ("openai-wire", None)]
    shown = look("show", session_id, "--json").json["messages"]
    assert [(one["model"], one["effort"]) for one in shown if one["content"] == "Better."] == [
        ("openai/openai-other", "high")
    ]
