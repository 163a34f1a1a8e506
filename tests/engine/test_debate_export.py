"""A debate and a council as documents: citations are links, votes a chart, and what the user decided is there."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pyromark
import pytest

from app.core.council import Ballot, Decision, Participant, Point, Verdict
from app.core.council_parts import Position
from app.core.events import EventBus
from app.core.message import Author, CouncilPart, Message
from app.core.session import Council, Debate, DebateSession
from app.core.store import StoredSession
from app.engine.council.export import DebateDocument
from app.engine.export.document import Section
from app.engine.live_session import LiveSession
from tests.builders import PROMPTS, export

GPT = Participant(id="p0", name="GPT [1] *", provider="x", model="gpt")
CLAUDE = Participant(id="p1", name="Claude", provider="y", model="opus")
AUTHORS = {one.id: Author(id=one.id, name=one.name) for one in (GPT, CLAUDE)}
ANSWER = re.compile(r"\[GPT [^\]]*\]")


def said(number: int, who: Participant, **fields: object) -> Message:
    values: dict[str, object] = {"round": 1, "content": "So **it** is.", "role": "assistant", **fields}
    return Message(id=f"m{number}", turn_id=f"t{number}", author=AUTHORS[who.id], **values)  # type: ignore[arg-type]


def a_live(debate: Debate, *messages: Message) -> LiveSession:
    session = DebateSession(id="01d", title="Ban cars?", debate=debate, created_at="2026-11-21")
    return LiveSession(StoredSession(session=session, messages=list(messages)), EventBus())


def a_debate(**fields: object) -> Debate:
    votes = {(0, "p0"): 2, (1, "p0"): -1, (0, "p1"): None, (1, "p1"): None}
    ballots = tuple(
        Ballot(participant=who, round=number, stance=vote) for (number, who), vote in votes.items()
    )
    verdict = Verdict(judge="Claude", model="y/opus", answer=(Point(text="Ban them.", cites=("m1", "gone")),))
    values: dict[str, object] = {
        "participants": (GPT, CLAUDE),
        "rounds": 1,
        "ballots": ballots,
        "verdict": verdict,
    }
    return Debate(**{"topic": "Ban cars?", **values, **fields})  # type: ignore[arg-type]


def a_council(*more: Message) -> LiveSession:
    debate = a_debate(ballots=(), verdict=None, mode="council", council=Council(rounds=3))
    asked = replace(
        said(0, GPT, part=CouncilPart.QUESTION, role="user", round=0),
        author=Author(id="user", name="User", kind="user"),
    )
    answers = (
        said(1, GPT, part=CouncilPart.ANSWER, round=0, data=Position(confidence=70, answer="Yes")),
        said(2, CLAUDE, part=CouncilPart.ANSWER, round=0, data=Position(answer="No")),
    )
    return a_live(debate, asked, *answers, *more)


def links_of(markdown: str) -> dict[str, str]:
    """Return the address of each link by its text, as a Markdown reader sees them."""
    page = pyromark.html(markdown)
    return {unescape(text): address for address, text in re.findall(r'<a href="([^"]*)">(.*?)</a>', page)}


def test_citations_are_links_to_what_they_cite_in_markdown_and_html() -> None:
    live = a_live(a_debate(), said(1, GPT), said(2, CLAUDE))
    markdown = export(live, "md", PROMPTS)
    assert links_of(markdown) == {"GPT [1] * r1": "#m1"}
    assert re.findall(r'<a id="(\w+)"></a>', markdown) == ["m1"], "only what is cited has an anchor"
    page = export(live, "html", PROMPTS)
    assert '<a href="#m1">[GPT [1] * r1]</a>' in page and '<article id="m1"' in page
    assert "gone" not in page


def test_the_chart_names_its_sides_and_rounds_and_only_votes_are_drawn() -> None:
    page = export(a_live(a_debate(), said(1, GPT)), "html", PROMPTS)
    chart = page[page.index("<svg") : page.index("</svg>")]
    assert re.findall(r">([^<]+)</text>", chart) == [*"ABCDE", "Before", "Round 1"]
    assert chart.count("<circle") == 2
    assert "Claude: – → –" in page and "GPT [1] *: A → D" in page
    assert "<svg" not in export(a_live(a_debate(ballots=()), said(1, GPT)), "html", PROMPTS)


def test_a_council_has_its_answers_its_dissent_and_its_merged_answer_under_their_names() -> None:
    dissent = said(4, CLAUDE, part=CouncilPart.DISSENT)
    live = a_council(
        said(3, GPT, part=CouncilPart.TURN), dissent, said(5, GPT, part=CouncilPart.MERGE, round=0)
    )
    markdown = export(live, "md", PROMPTS)
    assert "- Rounds: 1 of 3" in markdown
    order = (
        "## Answers",
        "(70% sure)**",
        "**Claude**",
        "## Round 1 of 3",
        "**Claude · Dissent**",
        "**Merged answer**",
    )
    places = [markdown.index(one) for one in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({}, ["Ban them"]),
        (
            {"sign": "fewer crashes", "due": "2027-01-01"},
            ["How you will know: fewer crashes", "To be checked on 2027-01-01"],
        ),
        ({"due": "2027-01-01", "result": "held"}, ["It was right."]),
    ],
)
def test_what_the_user_decided_comes_first(fields: dict[str, str], lines: list[str]) -> None:
    decision = Decision(id="01d", name="Ban cars?", decided="Ban them", **fields)
    live = a_council()
    found = next(one for one in DebateDocument(live, PROMPTS, decision).parts() if isinstance(one, Section))
    assert found.heading == "Your decision"
    assert [one.text for one in found.lines][-len(lines) :] == lines
    for file_format in ("md", "html"):
        assert lines[-1] in export(live, file_format, PROMPTS, decision=decision)
        assert "Your decision" not in export(live, file_format, PROMPTS)


def test_a_minority_by_the_votes_alone_is_quoted_without_marks(tmp_path: Path) -> None:
    ballots = tuple(
        Ballot(participant=who, round=1, stance=vote) for who, vote in (("p0", 2), ("p1", -2), ("p2", 2))
    )
    third = replace(CLAUDE, id="p2", name="Gemini")
    live = a_live(
        a_debate(ballots=ballots, participants=(GPT, CLAUDE, third)),
        said(1, CLAUDE, content="It **is** `so`, see [here](https://a.example)."),
    )
    page = export(live, "html", PROMPTS)
    assert "Claude: E Against" in page and "It is so, see here." in page


LONG = "# Postgres\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\n# no heading\n```\n\nWhy\n---\nBecause."
LOWER = "### Postgres\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\n# no heading\n```\n\n#### Why\nBecause."


def test_each_question_of_a_council_counts_its_own_rounds() -> None:
    debate = a_debate(ballots=(), verdict=None, mode="council", council=Council(rounds=0))
    me = Author(id="user", name="User", kind="user")
    first, second = (
        replace(said(number, GPT, part=CouncilPart.QUESTION, role="user", round=0, content=text), author=me)
        for number, text in ((0, "Postgres?"), (5, "And MySQL?"))
    )
    turns = [said(number, GPT, part=CouncilPart.TURN, round=number) for number in (1, 2)]
    answer = said(6, CLAUDE, part=CouncilPart.ANSWER, round=0)
    markdown = export(a_live(debate, first, *turns, second, answer), "md", PROMPTS)
    assert re.findall(r"- Rounds: .*|## Round .*", markdown) == [
        "- Rounds: 2",
        "## Round 1 of 2",
        "## Round 2 of 2",
    ]
    more = replace(debate, council=Council(rounds=3))
    third = said(7, GPT, part=CouncilPart.TURN, round=1)
    markdown = export(a_live(more, first, *turns, second, answer, third), "md", PROMPTS)
    assert re.findall(r"- Rounds: .*|## Round .*", markdown)[0] == "- Rounds: 3 of 5"
    assert "## Round 1 of 3" in markdown


def test_headings_of_answers_stand_below_those_of_the_document() -> None:
    markdown = export(a_live(a_debate(), said(1, GPT, content=LONG)), "md", PROMPTS)
    assert LOWER in markdown


def test_what_a_leader_said_stands_in_blocks_below_what_it_cites() -> None:
    ballots = tuple(Ballot(participant=who, round=1, stance=2) for who in ("p0", "p1"))
    live = a_live(a_debate(ballots=ballots, verdict=None), said(1, GPT, content=LONG))
    markdown = export(live, "md", PROMPTS)
    lines = LOWER.splitlines()
    below = "\n".join(f"  {line}" if line else "" for line in lines)
    assert f"- [GPT \\[1\\] \\* r1](#m1)\n\n{below}\n" in markdown
    page = pyromark.html(markdown.partition("## Round")[0])
    assert page.count("<h3>Postgres</h3>") == 1 and "# no heading" in page and "\\#" not in markdown
    assert "Postgres" in export(live, "html", PROMPTS)


def test_a_topic_of_several_lines_keeps_them() -> None:
    live = a_live(a_debate(topic="Ban cars?\n\n* here\n* there"))
    markdown = export(live, "md", PROMPTS)
    assert "**Topic**\n\nBan cars?\n\n\\* here\\\n\\* there" in markdown
