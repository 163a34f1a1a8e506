"""A council as Argdown: what is in it, and that Argdown's own reader reads every text in it as it was."""

import json
import random
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.core.message import CouncilPart, Message
from app.core.session import Debate, DebateSession, ExportFormat
from app.engine.council.argdown import argdown, escaped
from tests.builders import PROMPTS, Bench, a_setup, said
from tests.engine.test_council import bench, held
from tests.engine.test_council_verdict import judging, opened, read, voted

READER = Path(__file__).parents[2] / "build/argdown/node_modules/@argdown/core"
needs_reader = pytest.mark.skipif(
    not (READER.is_dir() and shutil.which("node")), reason="no reader of Argdown in build/argdown"
)
SCRIPT = """
import { argdown } from "@argdown/core";
import { readFileSync } from "fs";
const input = readFileSync(0, "utf8");
const read = argdown.run({ input, process: ["parse-input", "build-model"], logLevel: "error" });
const texts = (all) => Object.fromEntries(Object.entries(all || {}).map(([title, one]) => [title, {
  text: (one.members || []).map((each) => each.text || "").join("").trim(), data: one.data || null,
  relations: (one.relations || []).filter((each) => each.to === one).map((each) => [each.relationType, each.from.title]),
}]));
const errors = [...(read.lexerErrors || []), ...(read.parserErrors || [])].map((each) => each.message);
console.log(JSON.stringify({
  errors, title: read.frontMatter && read.frontMatter.title, statements: texts(read.statements), arguments: texts(read.arguments),
}));
"""
HARD = [
    "[A]: no {statement} <either>: @[A] #tag *b* _i_ \\ end",
    "See https://example.org/a//b /* kept */ <!-- kept --> === kept === .A. :smile: 1.2.3",
    "+ <a>: x\n- [B]\n\n(1) One\n----\n>< [C]\n# Head\n1. two\n* three\r\n\tfour",
    "한글 [주장] {값: 1} <논증>: 그렇다. @누구 #태그 — “인용” ‘a’ 50 % 🙂",
    "{a: } b} {{ }} }, ] [ > <",
]


def words(key: str, **values: object) -> str:
    return PROMPTS.lines("en", "export").get(key, key).format(**values)


def a_map(texts: list[str], names: tuple[str, ...] = ()) -> tuple[DebateSession, list[Message]]:
    """Return a council of four in which these texts are all that is said, claimed and held."""
    debate, messages = opened("AABB")
    messages += voted(debate, "AABB")
    readings = read(debate, "oA", "oA")
    claims = [
        {"text": text, "for": ["p0", "p1"], "against": ["p2"], "cites": [messages[1].id]} for text in texts
    ]
    data = {
        **(readings[0].data or {}),
        "claims": claims,
        "cases": [{"option": "oA", "text": texts[0], "cites": [messages[1].id]}],
    }
    messages += [replace(readings[0], data=data), readings[1]]
    spoken = iter(texts * 20)
    messages = [
        replace(one, content=next(spoken)) if one.part in (CouncilPart.ANSWER, CouncilPart.TURN) else one for one in messages
    ]  # fmt: skip
    people = tuple(
        replace(one, name=names[place % len(names)] if names else one.name)
        for place, one in enumerate(debate.participants)
    )
    return DebateSession(id="s", title=texts[0], debate=_named(debate, people)), messages


def _named(debate: Debate, people: tuple) -> Debate:  # type: ignore[type-arg]
    return replace(debate, participants=people)


def written(session: DebateSession, messages: list[Message]) -> str:
    return "".join(argdown(session, messages, words))


def test_nothing_in_a_text_is_a_mark() -> None:
    assert escaped("a [b] <c> {d} @e #f *g* _h_ \\i") == r"a \[b\] \<c\> \{d\} \@e \#f \*g\* \_h\_ \\i"
    assert escaped("x\n\n+ y\thttps://z") == r"x + y https\:\/\/z"
    assert escaped("It is. So: 14:30 and 3.5") == r"It is. So: 14\:30 and 3\.5"


def test_options_are_statements_and_what_is_said_are_arguments_for_and_against_them() -> None:
    session, messages = a_map(["It is [so]."])
    text = written(session, messages)
    assert text.startswith('===\ntitle: "It is [so]."\nquestion: "Postgres or SQLite?"\n===\n')
    assert '[A]: Option A {votes: 2, who: ["GPT", "Claude"], headline: true}' in text
    assert "  >< [B]" in text and text.count("><") == 1
    answer, turn = messages[1], messages[6]
    assert f'  + <GPT answer>: It is \\[so\\]. {{who: "GPT", turn: 0, id: "{answer.id}"}}' in text
    assert f'  + <GPT r1>: It is \\[so\\]. {{who: "GPT", turn: 1, id: "{turn.id}"}}' in text
    assert (
        '  + <Claims 1>: It is \\[so\\]. {who: ["GPT", "Claude"], denied: ["Gemini"], cites: ["GPT answer"]}'
        in text
    )
    # Against the option of those who deny it; said whole only once.
    assert text.endswith("  - <Claims 1>\n")


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    one = bench(tmp_path)
    one.models.otherwise = judging
    yield one
    await one.engine.shutdown()


async def test_a_council_is_exported_and_no_other_session(made: Bench) -> None:
    session_id = await held(made)
    await made.engine.councils.debate(session_id, 1)
    await made.engine.wait(session_id)
    text = await made.engine.export(session_id, ExportFormat.ARGDOWN)
    assert "Nobody tested it." in text and re.search(r"\+ <Claims 1>: It writes\.", text)
    assert "@@" not in text and text.count("[A]:") == 1
    debate = await made.engine.debates.start(a_setup(2))
    with pytest.raises(BadInput, match="not_a_council"):
        await made.engine.export(debate, ExportFormat.ARGDOWN)
    await made.engine.wait(debate)


def parsed(text: str, folder: Path) -> dict[str, object]:
    """Return what Argdown's own reader makes of a text."""
    script = READER.parents[2] / "read.mjs"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        ["node", str(script)], input=text, capture_output=True, text=True, timeout=60, check=True
    )
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
@needs_reader
def test_argdowns_own_reader_reads_every_text_as_it_was(tmp_path: Path) -> None:
    names = ("GPT [5]", "Claude <o> {x} b}", "=== 한글 //", "Gemini")
    session, messages = a_map(HARD, names)
    found = parsed(written(session, messages), tmp_path)
    assert found["errors"] == [] and found["title"] == session.title
    statements, arguments = found["statements"], found["arguments"]
    assert isinstance(statements, dict) and isinstance(arguments, dict)
    assert statements["A"]["data"]["who"] == [*names[:2]] and set(statements) == {"A", "B"}
    assert ["contradictory", "A"] in statements["B"]["relations"]
    by_id = {one["data"]["id"]: one for one in arguments.values() if one["data"] and "id" in one["data"]}
    for one in messages:
        if one.part in (CouncilPart.ANSWER, CouncilPart.TURN):
            assert by_id[one.id]["text"] == " ".join(one.content.split())
            assert by_id[one.id]["data"]["turn"] == one.round
    claims = [one["text"] for title, one in arguments.items() if title.startswith("Claims")]
    assert claims == [" ".join(one.split()) for one in HARD]
    assert {"support", "attack"} <= {kind for one in statements.values() for kind, _ in one["relations"]}


@pytest.mark.slow
@needs_reader
def test_argdowns_own_reader_takes_random_texts_too(tmp_path: Path) -> None:
    chance = random.Random(1)
    marks = "[]<>{}@#*_\\/=:.-+(),;!\"'`~|^& \n1aZ가"
    texts = ["x" + "".join(chance.choices(marks, k=chance.randrange(1, 60))) for _ in range(200)]
    session, messages = a_map(texts)
    debate = session.debate
    messages += [
        said(debate.participants[0], text, 1, part=CouncilPart.TURN, data={"choice": "oA"}) for text in texts
    ]
    found = parsed(written(session, messages), tmp_path)
    assert found["errors"] == []
    arguments = found["arguments"]
    assert isinstance(arguments, dict)
    kept = [one["text"] for title, one in arguments.items() if title.startswith("Claims")]
    assert kept == [" ".join(one.split()) for one in dict.fromkeys(texts)]
