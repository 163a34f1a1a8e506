"""A chat in a terminal: what streams, what waits for its turn to be printed, tools, questions."""

import asyncio
import dataclasses
import itertools
from dataclasses import replace

import pytest

from app.cli.commands.chats import _approval
from app.cli.printing.chats import MOST_OF_RESULT, ChatPrinter, step_line, workflow_end
from app.cli.printing.lines import columns, load_texts
from app.cli.printing.sessions import Follower, aside_text, cost_line, last_line
from app.core.definitions import StepState, StepStatus, WorkflowDefinition
from app.core.errors import BadInput, Failure
from app.core.events import (
    Event,
    MessageDelta,
    MessageFinished,
    MessageStarted,
    Notice,
    PromptAsked,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from app.core.message import (
    Attachment,
    Author,
    Consent,
    Message,
    MessageState,
    Prompt,
    PromptType,
    Role,
    ToolCall,
    Usage,
    UsageEntry,
)
from app.core.session import Chat, ChatSession, Reason, Status, WorkflowSession, WorkflowState

TEXTS = load_texts("en")
GUIDE = Author(id="guide", name="Guide", path=("guide",))
LEFT = Author(id="left", name="Left", kind="sub", path=("guide", "left"), depth=1)
RIGHT = Author(id="right", name="오른쪽", kind="sub", path=("guide", "right"), depth=1)
SESSION = ChatSession(id="01s", title="A chat", chat=Chat(assistant_id="guide", assistant_name="Guide"))


def message(message_id: str, author: Author, text: str = "", **fields: object) -> Message:
    values: dict[str, object] = {"turn_id": f"t-{author.id}", "role": Role.ASSISTANT, **fields}
    return Message(id=message_id, author=author, content=text, **values)  # type: ignore[arg-type]


def started(message_id: str, author: Author) -> MessageStarted:
    return MessageStarted(session_id="01s", message=message(message_id, author, state=MessageState.STREAMING))


def grown(message_id: str, offset: int, text: str) -> MessageDelta:
    return MessageDelta(session_id="01s", message_id=message_id, offset=offset, text=text)


def finished(message_id: str, author: Author, text: str = "", **fields: object) -> MessageFinished:
    return MessageFinished(session_id="01s", message=message(message_id, author, text, **fields))


def tool(author: Author, name: str, arguments: str = "{}") -> ToolStarted:
    return ToolStarted(
        session_id="01s", turn_id=f"t-{author.id}", tool_call_id="c1", name=name, arguments=arguments
    )


def done(author: Author, name: str, content: str = "", *, ok: bool = True) -> ToolFinished:
    return ToolFinished(
        session_id="01s", turn_id=f"t-{author.id}", tool_call_id="c1", name=name, ok=ok, content=content
    )


def asked(message_id: str, author: Author, prompt: Prompt, role: str = Role.SYSTEM) -> list[Event]:
    return [
        finished(message_id, author, role=role, prompt=prompt, tool_call_id="c1"),
        PromptAsked(session_id="01s", message_id=message_id, prompt=prompt),
    ]


def printed(*events: Event) -> str:
    printer = ChatPrinter(TEXTS)
    printer.know(SESSION)
    return "".join(map(printer, events))


def test_who_speaks_alone_is_printed_word_by_word() -> None:
    printer = ChatPrinter(TEXTS)
    heading = printer(SessionStarted(session_id="01s", session=SESSION))
    assert heading == "A chat\n  Guide · 01s\n"
    assert printer(started("m1", GUIDE)) == ""
    assert printer(grown("m1", 0, "Hello ")) == "\nGuide:\nHello "
    assert printer(grown("m1", 3, "lo there")) == "there"
    assert printer(finished("m1", GUIDE, "Hello there.")) == ".\n"


def test_an_answer_that_only_calls_tools_has_no_label() -> None:
    text = printed(
        started("m1", GUIDE),
        finished("m1", GUIDE, tool_calls=(ToolCall(id="c1", name="web_fetch"),)),
        tool(GUIDE, "web_fetch", '{"url":\n "x"}'),
        done(GUIDE, "web_fetch", "a\nb" + "x" * 1_000),
    )
    assert text.splitlines()[0] == '> web_fetch {"url": "x"}'
    assert text.splitlines()[1].startswith("  ok web_fetch: a bxxx")
    assert len(text.splitlines()) == 2
    assert len(text.splitlines()[1]) < MOST_OF_RESULT + 40


def test_a_sub_agent_is_indented_in_every_line() -> None:
    text = printed(
        TurnStarted(session_id="01s", turn_id="t-left", author=LEFT),
        tool(LEFT, "web_search"),
        started("m1", LEFT),
        grown("m1", 0, "one\ntwo"),
        grown("m1", 7, "\n\x1b[31mthree"),
        finished("m1", LEFT, "one\ntwo\n\x1b[31mthree"),
        done(LEFT, "web_search", "why", ok=False),
    )
    assert text == (
        "    > web_search {}\n\n    Left:\n    one\n    two\n    ⟨U+001B⟩[31mthree\n    "
        "  failed web_search: why\n"
    )


def test_of_several_the_first_goes_on_and_the_others_come_whole() -> None:
    text = printed(
        started("a", LEFT),
        grown("a", 0, "left "),
        started("b", RIGHT),
        grown("b", 0, "right "),
        grown("a", 5, "goes "),
        tool(RIGHT, "web_fetch"),
        finished("b", RIGHT, "right whole"),
        grown("a", 10, "on"),
        finished("a", LEFT, "left goes on"),
    )
    assert text == "\n    Left:\n    left goes on\n    > web_fetch {}\n\n    오른쪽:\n    right whole\n"


def test_of_two_that_begin_together_the_one_left_over_goes_on_as_it_comes() -> None:
    printer = ChatPrinter(TEXTS)
    for event in (started("a", LEFT), started("b", RIGHT), grown("b", 0, "right ")):
        assert printer(event) == ""
    assert printer(grown("a", 0, "left")) == "\n    Left:\n    left"
    assert printer(grown("b", 6, "is ")) == ""
    assert printer(finished("a", LEFT, "left")) == "\n\n    오른쪽:\n    right is "
    assert printer(grown("b", 9, "here")) == "here"
    assert printer(finished("b", RIGHT, "right is here")) == "\n"


@pytest.mark.parametrize("order", list(itertools.permutations("abc"))[:4])
def test_nothing_is_printed_twice_or_lost_however_three_end(order: tuple[str, ...]) -> None:
    authors = {"a": GUIDE, "b": LEFT, "c": RIGHT}
    events: list[Event] = [started(one, author) for one, author in authors.items()]
    for piece in range(4):
        events += [grown(one, piece * 3, f"{one}{piece} ") for one in authors]
    whole = {one: "".join(f"{one}{piece} " for piece in range(4)) for one in authors}
    events += [finished(one, authors[one], whole[one]) for one in order]
    text = printed(*events)
    for one in authors:
        assert text.count(whole[one].strip()) == 1
    assert len([line for line in text.splitlines() if line.strip()]) == 6


def test_a_summary_is_one_line_where_it_goes_to() -> None:
    summary = message(
        "3", GUIDE, "Much was said.", role=Role.SUMMARY, through="t-guide", note="auto", replaces=64_000
    )
    said = [message("1", GUIDE, "Hello."), summary]
    printed = "".join(ChatPrinter(TEXTS).transcript(said))
    assert printed.endswith("  Summarised here: 64,000 → 4 tokens\n")
    assert "Much was said" not in printed
    printer = ChatPrinter(TEXTS)
    printer.know(SESSION)
    assert "Summarised here" in printer(MessageFinished(session_id="01s", message=summary))


def test_what_was_cut_or_failed_says_so() -> None:
    text = printed(
        started("a", LEFT),
        grown("a", 0, "half"),
        finished("a", LEFT, "half", state=MessageState.STOPPED),
        finished("b", RIGHT, state=MessageState.FAILED, error=Failure(kind="server", detail="a\nb")),
        started("c", GUIDE),
        finished("c", GUIDE, state=MessageState.FAILED, error=Failure(kind="network")),
    )
    lines = [line for line in text.splitlines() if line]
    assert lines[:4] == ["    Left:", "    half", f"      ! {TEXTS('cli.cut')}", "    오른쪽:"]
    assert lines[4].endswith("Provider error. The provider’s message: a b")
    assert lines[5] == "Guide:"
    assert lines[6].startswith("  ! Guide")


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        (
            Prompt(
                question="web",
                type=PromptType.APPROVAL,
                tool="open_url",
                arguments='{"a":"' + "x" * 900 + '"}',
                reason="tool",
            ),
            ["Left wants to use open_url", "x" * 900, "moot reply 01s allow|always|deny"],
        ),
        (
            Prompt(
                question="web", type=PromptType.APPROVAL, tool="pay", arguments="{}", reason="may_have_run"
            ),
            ["may already have run", "allow|always|deny"],
        ),
        (
            Prompt(
                question="Desk__book_1f",
                type=PromptType.APPROVAL,
                tool="Desk__book_1f",
                arguments='{"room": "a\\nb", "days": [1]}',
                reason="tool",
                server="예약 Desk",
                name="book",
                about="Books a room.",
            ),
            ["wants to use book (예약 Desk)", "Books a room.", 'room: "a\\nb"', "days: [", "|deny: …"],
        ),
        (Prompt(question="Sure?", type=PromptType.YESNO), ["Left asks: Sure?", "moot reply 01s yes|no"]),
        (
            Prompt(question="Which?", type=PromptType.OPTIONS, options=("하나", "two")),
            ["1. 하나", "2. two", "reply 01s 1"],
        ),
        (Prompt(question="Say\nmore", type=PromptType.TEXT), ["Say", "more", "moot reply 01s"]),
    ],
)
def test_a_question_says_how_it_is_answered(prompt: Prompt, words: list[str]) -> None:
    text = printed(*asked("q", LEFT, prompt))
    for one in words:
        assert one in text
    assert all(line.startswith("    ") for line in text.splitlines() if line)


def test_the_users_words_stand_where_they_were_asked_for() -> None:
    prompt = Prompt(question="Which?", type=PromptType.TEXT)
    answer = message("n", Author(id="user", name="User", kind="user"), "This one", role=Role.USER)
    text = printed(
        *asked("q", LEFT, prompt, Role.TOOL),
        done(LEFT, "promptUser", "asked"),
        MessageFinished(
            session_id="01s",
            message=Message(
                id="n",
                turn_id="t-left",
                role=Role.USER,
                author=answer.author,
                content="This one",
                answers="q",
            ),
        ),
    )
    assert "asked" not in text
    assert text.endswith("\n    You:\n    This one\n")


def test_what_was_allowed_still_reports_its_result_and_the_word_itself_is_not_repeated() -> None:
    prompt = Prompt(question="x", type=PromptType.APPROVAL, tool="open_url", arguments="{}", reason="tool")
    word = Message(
        id="n",
        turn_id="t-left",
        role=Role.USER,
        author=Author(id="user", name="User"),
        content=Consent.ALLOW,
        answers="q",
    )
    events = asked("q", LEFT, prompt)
    said = MessageFinished(session_id="01s", message=word)
    text = printed(*events, said, tool(LEFT, "open_url"), done(LEFT, "open_url", "Opened."))
    assert "You:" not in text
    assert "ok open_url: Opened." in text


async def test_a_notice_goes_to_standard_error_at_the_end_of_a_line() -> None:
    order: list[tuple[str, str]] = []

    class Terminal:
        async def write(self, text: str) -> None:
            order.append(("out", text))

        async def complain(self, line: str) -> None:
            order.append(("err", line))

    async def acknowledged(_session_id: str) -> None:
        pass

    notice = Notice(session_id="01s", level="info", code="something of a newer version")
    follower = Follower(ChatPrinter(TEXTS), Terminal(), acknowledged, TEXTS)  # type: ignore[arg-type]
    following = asyncio.create_task(follower.follow("01s"))
    for event in (started("a", GUIDE), grown("a", 0, "word"), notice, finished("a", GUIDE, "word"), notice):
        follower.listen((event,))
        await asyncio.sleep(0.01)
    follower.end()
    await asyncio.wait_for(following, 5)
    said = ("err", "something of a newer version")
    assert order == [("out", "\nGuide:\nword"), ("out", "\n"), said, said]


def test_the_images_of_an_answer_are_named() -> None:
    image = Attachment(name="image-1.png", media_type="image/png", data="AAAA")
    said = finished("a", GUIDE, "Here.")
    said = replace(said, message=replace(said.message, attachments=(image,)))
    assert printed(started("a", GUIDE), said).endswith("  [image-1.png]\n")


def test_a_notice_says_why_a_turn_is_held_in_words() -> None:
    details = {"name": "Guide", "kind": "quota", "detail": "Pay up.", "provider": "openai"}
    notice = Notice(session_id="01s", level="warning", code="turn_held", details=details)
    assert aside_text(notice, TEXTS) == (
        "Paused before Guide’s turn. The account with the provider has no credit left."
        " Add credit there, or choose another provider. OpenAI’s message: Pay up."
    )


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("allow", Consent.ALLOW),
        (" YES. ", Consent.ALLOW),
        ("네", Consent.ALLOW),
        ("허용", Consent.ALLOW),
        ("Always", Consent.ALWAYS),
        ("항상", Consent.ALWAYS),
        ("deny", Consent.DENY),
        ("No!", Consent.DENY),
        ("아니요", Consent.DENY),
        ("거부", Consent.DENY),
        ("refuse: it deletes all: everything", "deny-it deletes all: everything"),
        ("거부: 월요일은 안 돼요", "deny-월요일은 안 돼요"),
    ],
)
def test_words_for_an_approval(said: str, meant: str) -> None:
    assert _approval(said) == meant


@pytest.mark.parametrize(
    "said", ["", "maybe", "allow it all", "yes no", "y e s", "1", "true", "no:", "allow: yes"]
)
def test_what_is_no_clear_word_allows_nothing(said: str) -> None:
    with pytest.raises(BadInput, match="answer_unfit"):
        _approval(said)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("status", ["idle", "waiting", "paused", "running", "stopped", "error"])
def test_the_last_line_says_what_comes_next(language: str, status: str) -> None:
    session = ChatSession(id="01s", title="T", status=status, chat=SESSION.chat)
    line = last_line(session, load_texts(language))
    assert line
    assert ("moot re" in line) == (status in {"idle", "waiting", "paused", "stopped"})


def test_what_a_session_cost_and_what_the_cache_saved() -> None:
    used = Usage(input_tokens=900, output_tokens=100, cost_usd=0.02, cached_tokens=800, saved_usd=0.03)
    cut = UsageEntry(message_id="cut", input_tokens=500, cost_usd=0.01)
    said = [message("m1", GUIDE, "Yes.", usage=used), message("m2", GUIDE, "No.")]
    spent = dataclasses.replace(SESSION, unsaid=(cut,))
    assert cost_line(spent, said, TEXTS) == "$0.03 · 1.5k tokens · $0.03 saved by cache\n"
    assert cost_line(SESSION, said[1:], TEXTS) == ""


def test_lists_are_aligned_with_korean_letters_two_cells_wide() -> None:
    rows = [("openai", "키 필요", "gpt"), ("a\nb", "no key", "two  words"), ("o", "준비", "")]
    assert columns(rows) == ["openai  키 필요  gpt", "a b     no key   two words", "o       준비"]
    assert columns([]) == []


def test_text_that_was_thinking_is_said_to_be_so_above_the_answer() -> None:
    printer = ChatPrinter(TEXTS)
    printed = "".join(
        printer(event)
        for event in (
            started("m1", GUIDE),
            grown("m1", 0, "Six times seven."),
            started("m1", GUIDE),
            grown("m1", 0, "42."),
            finished("m1", GUIDE, "42.", thinking="Six times seven."),
        )
    )
    assert printed == "\nGuide:\nSix times seven.\n(That was thinking. The answer follows.)\n42.\n"


@pytest.mark.parametrize(("language", "word"), [("en", "queued"), ("ko", "대기 중")])
def test_a_queued_step_does_not_ask_for_the_user(language, word):
    texts = load_texts(language)
    waits = StepState(id="s1", state=StepStatus.WAITING, reason=Reason.BUSY)
    asks = dataclasses.replace(waits, id="s2", reason="question")
    assert step_line(None, waits, texts, {}).startswith(f"  [{word}] s1")
    assert step_line(None, asks, texts, {}).startswith(f"  {texts('cli.step.waiting')} s2")
    reply = texts("cli.chat_waiting", session_id="w")
    for steps, is_asked in (((waits,), False), ((waits, asks), True)):
        work = WorkflowState(definition=WorkflowDefinition(id="f", name="F"), command="Go.", steps=steps)
        chat = Chat(assistant_id="a", assistant_name="A")
        session = WorkflowSession(id="w", title="T", status=Status.PAUSED, chat=chat, workflow=work)
        assert (reply in workflow_end(session, texts)) == is_asked
