"""Answers with pictures: kept in the log, not asked twice, sent back to the same model, exported."""

import base64
from pathlib import Path

from app.core.errors import ProviderError
from app.core.events import Notice
from app.core.message import MessageState, Role, Usage
from app.core.provider import Finished, PicturePiece
from app.core.session import ExportFormat
from tests.builders import Bench, a_setup, reopened
from tests.engine.test_turn import agent, ask
from tests.engine.test_turn import bench as a_chat
from tests.pictures import png

DATA = base64.b64encode(png()).decode()
PIECES = [
    PicturePiece(index=0, data=DATA[:40], media_type="image/png"),
    PicturePiece(index=0, data=DATA[40:]),
]
STATE = {"thought_signatures": ["c2ln"]}


async def test_a_picture_alone_is_an_answer_and_is_kept(tmp_path: Path) -> None:
    made = a_chat(tmp_path, [PIECES])
    session_id = await ask(made)
    answer = made.messages(session_id)[-1]
    assert (answer.state, answer.content, len(made.models.requests)) == (MessageState.DONE, "", 1)
    [kept] = answer.attachments
    assert (kept.name, kept.media_type, kept.data) == ("image-1.png", "image/png", DATA)
    page = await made.engine.export(session_id, ExportFormat.HTML)
    assert f"data:image/png;base64,{DATA}" in page
    assert "image-1.png" in await made.engine.export(session_id, ExportFormat.MARKDOWN)
    again = await reopened(made, tmp_path)
    await again.engine.open(session_id)
    assert again.messages(session_id)[-1].attachments == answer.attachments
    await again.engine.shutdown()


async def test_only_the_last_pictures_go_back_and_only_to_the_model_that_made_them(tmp_path: Path) -> None:
    end = Finished(usage=Usage(input_tokens=1, output_tokens=1), state=STATE)
    made = a_chat(
        tmp_path,
        [[*PIECES, end], ["Bluer.", *PIECES, end], ["Done."]],
        agents=(agent(), agent("other", model="model-1")),
    )
    session_id = await ask(made)
    for text in ("Bluer.", "Thanks."):
        await made.engine.chats.send(session_id, text)
        await made.engine.wait(session_id)
    sent = [one for one in made.models.requests[2].messages if one["role"] == Role.ASSISTANT]
    assert ["images" in one for one in sent] == [False, True]
    assert sent[1]["thought_signatures"] == ["c2ln"] and all(one["content"] for one in sent)
    await made.engine.chats.choose_assistant(session_id, "other")
    await made.engine.chats.send(session_id, "And you?")
    await made.engine.wait(session_id)
    assert all("images" not in one for one in made.models.requests[3].messages)


async def test_what_was_lost_is_told(tmp_path: Path) -> None:
    made = a_chat(tmp_path, [["Two.", Finished(lost_pictures=("broken", "address", "broken"))]])
    session_id = await ask(made)
    assert made.messages(session_id)[-1].content == "Two."
    codes = [event.code for event in made.events if isinstance(event, Notice)]
    assert codes == ["picture_broken", "picture_address"]
    made.models.script = [[ProviderError("picture")]]
    session_id = await ask(made)
    failed = made.messages(session_id)[-1]
    assert failed.error is not None and (failed.state, failed.error.kind) == ("failed", "picture")


async def test_a_debate_exports_the_pictures_of_its_participants(bench: Bench) -> None:
    bench.models.script = [PIECES, ["I saw it."]]
    session_id = await bench.run(a_setup(2, rounds=1))
    assert bench.messages(session_id)[0].attachments[0].data == DATA
    assert f"data:image/png;base64,{DATA}" in await bench.engine.export(session_id, ExportFormat.HTML)
    assert "image-1.png" in await bench.engine.export(session_id, ExportFormat.MARKDOWN)
