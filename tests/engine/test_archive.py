"""What came from elsewhere is a session like any other: an assistant goes on with it, and it is found."""

from pathlib import Path

from app.core.definitions import Agent
from app.core.session import Status
from app.engine.importing import CHATGPT, session_of
from tests.builders import PROMPTS, a_bench, a_log_store, reopened
from tests.engine.foreign_exports import chatgpt

ADA = Agent(id="ada", name="Ada", provider="remote0", model="model-0")


async def test_an_assistant_goes_on_with_a_conversation_that_was_brought_in(data_dir: Path):
    store = a_log_store(data_dir)
    await store.open()
    bench = a_bench(store, script=[["As I said, a car."]], agents=(ADA,))
    (chat,) = CHATGPT.chats(chatgpt(), PROMPTS.lines("en", "import"))
    session, messages = session_of(chat, ADA, "en")
    await store.bring_in(session, messages)
    assert [(one.title, one.status, one.messages) for one in bench.engine.sessions()] == [
        ("Cars in cities", Status.IDLE, 4)
    ]
    await bench.engine.chats.send(session.id, "Are you sure?")
    await bench.engine.wait(session.id)
    (request,) = bench.models.requests
    told = "\n".join(str(one["content"]) for one in request.messages)
    assert "What is this? 안녕" in told
    assert "A **car**." in told
    assert told.endswith("Are you sure?")
    assert bench.messages(session.id)[-1].content == "As I said, a car."
    again = await reopened(bench, data_dir)
    live = await again.engine.open(session.id)
    assert [one.content for one in live.messages][-2:] == ["Are you sure?", "As I said, a car."]
    assert live.session.source.startswith("chatgpt/")
    assert [hit.session.id for hit in await again.engine.search("안녕")] == [session.id]
    await again.engine.shutdown()
