"""What a line of a host holds of an answer: every text in it is clean, and every field has its place."""

from app.core.message import Usage
from app.core.provider import AgentAct, AgentAsk, AgentOption, CallPiece, Finished, PicturePiece, Text
from app.providers.external_agents import _delta
from app.providers.remote import deltas, end_in

BAD, CLEAN = "a\ud83d\0b", "a\ufffd\ufffdb"


def test_the_pieces_of_an_answer_are_clean() -> None:
    calls = [[3, f"id{BAD}", f"name{BAD}", f"{{{BAD}}}"], [4, "", "", "2"]]
    line = {
        "id": "r",
        "text": BAD,
        "thinking": f"hm{BAD}",
        "calls": calls,
        "images": [[5, "image/png", "QUJD"]],
    }
    assert list(deltas(line)) == [
        Text(text=CLEAN, thinking=f"hm{CLEAN}"),
        CallPiece(index=3, id=f"id{CLEAN}", name=f"name{CLEAN}", arguments=f"{{{CLEAN}}}"),
        CallPiece(index=4, arguments="2"),
        PicturePiece(index=5, data="QUJD", media_type="image/png"),
    ]
    assert list(deltas({"id": "r", "thinking": "hm"})) == [Text(thinking="hm")]


def test_what_an_external_agent_tells_is_clean() -> None:
    act = {"id": "1", "name": f"n{BAD}", "arguments": f"g{BAD}", "text": f"t{BAD}", "state": "done"}
    ask = {
        "id": "7",
        "act": "1",
        "title": f"w{BAD}",
        "arguments": f"g{BAD}",
        "options": [{"kind": "deny", "name": f"o{BAD}"}],
    }
    assert _delta({"id": "r", "text": BAD, "thinking": f"hm{BAD}"}) == Text(text=CLEAN, thinking=f"hm{CLEAN}")
    assert _delta({"id": "r", "act": act}) == AgentAct(
        id="1", name=f"n{CLEAN}", arguments=f"g{CLEAN}", text=f"t{CLEAN}", state="done"
    )
    option = AgentOption(kind="deny", name=f"o{CLEAN}")
    assert _delta({"id": "r", "ask": ask}) == AgentAsk(
        id="r 7", act="1", title=f"w{CLEAN}", arguments=f"g{CLEAN}", options=(option,)
    )


def test_the_end_of_an_answer_has_all_that_its_line_has() -> None:
    used = {"input_tokens": 1_100, "output_tokens": 220, "cost_usd": 0.125, "estimated": True}
    line = {
        "reason": "length",
        "usage": used,
        "state": {"blocks": [BAD]},
        "sources": [["https://a.example", "A"], ["https://b.example", ""]],
        "left_out": ["server__tool"],
        "lost_pictures": ["broken", "address"],
    }
    assert end_in(line) == Finished(
        reason="length",
        usage=Usage(input_tokens=1_100, output_tokens=220, cost_usd=0.125, estimated=True),
        state={"blocks": [CLEAN]},
        sources=(("https://a.example", "A"), ("https://b.example", "")),
        left_out=("server__tool",),
        lost_pictures=("broken", "address"),
    )
    assert end_in({**line, "state": None}).state is None
