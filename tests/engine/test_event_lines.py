"""The lines and documents that scripts rely on."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.errors import BadInput, ProviderError
from app.core.message import Attachment
from app.core.provider import Text
from app.engine.export.event_lines import event_line
from app.engine.session_kinds import session_document
from tests.builders import Bench, a_bench, a_setup
from tests.memory import MemoryStore


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = a_bench(MemoryStore())
    yield made
    await made.engine.shutdown()


async def test_a_debate_as_lines(bench: Bench) -> None:
    bench.models.script = [["One."], [ProviderError("rate_limit")], ["Two."]]
    session_id = await bench.run(a_setup(2, rounds=1))
    lines = [line for event in bench.events if (line := event_line(event))]
    assert [line["event"] for line in lines] == [
        "session.started", "turn.started", "message.started", "message.delta", "message.finished", "usage",
        "turn.started", "notice", "message.started", "message.delta", "message.finished", "usage",
        "session.status",
    ]  # fmt: skip
    assert all(line["session_id"] == session_id and str(line["at"]).endswith("Z") for line in lines)
    assert all(json.loads(json.dumps(line)) == line for line in lines)
    assert lines[4]["message"]["content"] == "One."  # type: ignore[index]
    assert lines[-1]["status"] == "completed" and lines[-1]["reason"] == "rounds_done"


async def test_a_message_says_when_its_first_word_came(bench: Bench) -> None:
    bench.models.script = [["One."], [Text(thinking="Hm.")], ["Two."]]
    session_id = await bench.run(a_setup(2, rounds=1))
    document = session_document(await bench.engine.open(session_id))
    once, twice = [one for one in document["messages"] if one["role"] == "assistant"]  # type: ignore[attr-defined]
    assert 0 <= once["first_word_seconds"] <= once["seconds"] and "tokens_per_second" in once
    # The tokens of both tries are in its usage.
    assert twice["first_word_seconds"] is None and twice["tokens_per_second"] is None


async def test_a_session_as_a_document(bench: Bench) -> None:
    session_id = await bench.run(a_setup(2, rounds=1, context=(Attachment(name="a.md", text="long"),)))
    live = await bench.engine.open(session_id)
    document = session_document(live)
    assert json.loads(json.dumps(document)) == document
    assert document["status"] == "completed" and document["plan"] is None
    debate = document["debate"]
    assert isinstance(debate, dict)
    assert (debate["round"], debate["rounds"], debate["context"]) == (1, 1, ["a.md"])
    assert [one["name"] for one in debate["participants"]] == ["GPT", "Claude"]


async def test_what_an_agent_began_says_so_and_a_fork_is_the_users(bench: Bench) -> None:
    session_id = await bench.run(a_setup(2, rounds=1, asked_by="Claude Code"))
    live = await bench.engine.open(session_id)
    assert session_document(live)["asked_by"] == "Claude Code"
    twin = await bench.engine.debates.fork(session_id, live.messages[0].id)
    assert (await bench.engine.open(twin)).session.asked_by == ""


HOSTILE = '<script>alert(1)</script> <img src=x onerror=y> "quoted" & [link](javascript:x)'


@pytest.mark.threat("T9")
async def test_an_export_shows_every_text_as_text(bench: Bench) -> None:
    bench.models.script = [[HOSTILE], [ProviderError("server", HOSTILE)]]
    session_id = await bench.run(a_setup(2, topic=HOSTILE, rounds=1, language="ko"))
    page = await bench.engine.export(session_id, "html")
    assert "<script" not in page and "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "default-src &#x27;none&#x27;" not in page
    assert "Content-Security-Policy" in page and 'lang="ko"' in page
    text = await bench.engine.export(session_id, "md")
    assert text.startswith("# \\<script\\>") and HOSTILE.replace("<", "\\<") in text
    assert HOSTILE not in text and "라운드 1/1" in text
    assert re.search(r"GPT \(\S+/\S+\), Claude \(\S+/\S+\)", text)
    assert json.loads(await bench.engine.export(session_id, "json"))["id"] == session_id
    with pytest.raises(BadInput, match="unknown_format"):
        await bench.engine.export(session_id, "pdf")


def test_every_code_has_its_words_in_both_languages() -> None:
    folder = Path(__file__).parents[2] / "resources" / "i18n" / "parts"
    if not folder.is_dir():
        folder = folder.parent
    english, korean = (
        {key for file in folder.glob(f"*{language}.json") for key in json.loads(file.read_text("utf-8"))}
        for language in ("en", "ko")
    )
    import re

    engine = Path(__file__).parents[2] / "app" / "engine"
    codes = {
        f"error.{code}"
        for file in engine.rglob("*.py")
        for code in re.findall(r'(?:BadInput|NotFound)\(\s*"([a-z_]+)"', file.read_text("utf-8"))
    }
    assert codes and codes <= english and codes <= korean
