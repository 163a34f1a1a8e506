"""External agents as models: what the tiny agent does, and what Moot makes of it."""

import asyncio
import json
import os
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from app.core.catalog import ProviderConfig
from app.core.errors import FailureKind, ProviderError
from app.core.provider import FinishReason, ModelRequest, Text
from app.providers.external_agents import UNSEEN, ExternalAgents, as_prompt
from app.providers.fact_book import FactBook
from tests.app_driver import until
from tests.providers.external import MESSAGES, all_below, ask, is_left, parent_of, tiny, told

# The tests look at processes and journals themselves.
pytestmark = pytest.mark.allow_blocking


@pytest.fixture
async def agents(tmp_path: Path) -> AsyncIterator[ExternalAgents]:
    agents = ExternalAgents(allowed=lambda _: True, folder=tmp_path / "agents", log_dir=tmp_path / "logs")
    yield agents
    host = agents.host_pid
    left = all_below(host) if host else set()
    await agents.close()
    assert not is_left(left)


async def refusal(agents: ExternalAgents, config: ProviderConfig, model: str = "default") -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await ask(agents, config, model)
    return raised.value


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("say", "I say this."),
        ("think", "(Let me see.)I say this."),
        ("ask", "I say this."),
        ("two-asks", "I say this."),
        ("notice", "I say this."),
        ("no-ids", "Said without ids."),
        ("garbage", "I say this."),
        ("banner", "I say this."),
        ("stderr-flood", "I say this."),
        ("unknown-update", "I say this."),
        ("mention", "no mention"),
        ("ignore-eof", "I say this."),
    ],
)
async def test_what_an_agent_says_is_its_answer(
    agents: ExternalAgents, tmp_path: Path, does: str, said: str
) -> None:
    answer, ended = await ask(agents, tiny(does, tmp_path / "journal"))
    assert answer == said
    assert (ended.reason, ended.usage.input_tokens, ended.usage.output_tokens) == (FinishReason.STOP, 11, 3)
    for one in told(tmp_path / "journal", "answer"):
        answered = json.loads(one["text"])
        assert "error" in answered or answered["result"]["outcome"]["optionId"] == "no"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "kind", "detail"),
    [
        ("empty", FailureKind.EMPTY, ""),
        ("act", FailureKind.AGENT_ACTED, "rm -rf notes"),
        ("auth-new", FailureKind.AGENT_LOGIN, "Authentication required"),
        ("auth-prompt", FailureKind.AGENT_LOGIN, "Authentication required"),
        ("die-mid", FailureKind.INTERRUPTED, "it ended"),
        ("garbage-flood", FailureKind.INTERRUPTED, "no messages"),
        ("flood", FailureKind.INTERRUPTED, "nobody asked for"),
        ("long-line", FailureKind.INTERRUPTED, "8 MB"),
    ],
)
async def test_an_agent_that_gives_no_answer_fails_with_the_reason(
    agents: ExternalAgents, does: str, kind: str, detail: str
) -> None:
    error = await refusal(agents, tiny(does))
    assert (error.kind, detail in error.detail) == (kind, True), error
    # The next one is not harmed by it.
    assert (await ask(agents, tiny("say")))[0] == "I say this."


async def test_a_complaint_of_the_program_is_no_answer(agents: ExternalAgents) -> None:
    """Claude Code gives its messages ids; what comes without one is its own, and says why there is no answer."""
    error = await refusal(agents, tiny("error-as-text", recipe="claude"))
    words = "exceeded retry limit, last status: 429 Too Many Requests"
    assert (error.kind, error.detail) == (FailureKind.SERVER, words)


@pytest.mark.slow
async def test_the_model_is_the_one_that_was_set_or_the_agent_is_refused(agents: ExternalAgents) -> None:
    assert (await ask(agents, tiny("say"), "large"))[0] == "I say this."
    error = await refusal(agents, tiny("stuck-model"), "unheard-of")
    assert (error.kind, error.detail) == (FailureKind.AGENT_DIFFERS, "other ≠ unheard-of")
    assert (await refusal(agents, tiny("stuck-mode", recipe="codex"))).kind == FailureKind.AGENT_DIFFERS


async def test_a_session_is_new_closed_after_the_turn_and_sees_an_empty_folder(
    agents: ExternalAgents, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    await ask(agents, tiny("say", journal))
    await ask(agents, tiny("say", journal))
    [first, second] = [json.loads(one["text"]) for one in told(journal, "new")]
    assert first == second and first["mcpServers"] == []
    folder = Path(first["cwd"])
    assert not list(folder.iterdir()) and stat.S_IMODE(folder.stat().st_mode) == 0o700
    [start] = told(journal, "start")
    assert not [name for name in json.loads(start["text"]) if name.endswith("_API_KEY")]
    await until(lambda: len(told(journal, "session/close")) == 2)
    prompt = told(journal, "prompt")[0]["text"]
    assert prompt.startswith("This is the conversation so far.")
    assert "You are Ada." in prompt and "[You, earlier]: No." in prompt and "a@b.c" in prompt


@pytest.mark.threat("T7")
def test_no_word_of_a_prompt_is_taken_for_the_name_of_a_file() -> None:
    texts = ("@/x", "@~/x", "@../x", '@"/x"', "@C:\\x", "a@/x")
    _, [prompt] = as_prompt(tuple({"role": "user", "content": text} for text in texts))
    assert prompt["text"].split("\n\n") == ["@ /x", "@ ~/x", "@ ../x", '@ "/x"', "@ C:\\x", "a@ /x"]


def shown(data: str, *texts: str) -> dict[str, object]:
    """Return what the user says with a picture behind it."""
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    return {"role": "user", "content": [*({"type": "text", "text": text} for text in texts), picture]}


@pytest.mark.parametrize(("does", "seen"), [("pictures", "<image/png QUJD>"), ("say", UNSEEN)])
async def test_a_picture_goes_to_an_agent_that_takes_them_and_others_are_told(
    tmp_path: Path, does: str, seen: str
) -> None:
    book = FactBook()
    agents = ExternalAgents(allowed=lambda _: True, folder=tmp_path / "agents", book=book)
    config = tiny(does, tmp_path / "journal")
    assert book.believed(config.id, "default", local=False).images is None
    answer, _ = await ask(agents, config, messages=(shown("QUJD", "Look."), *MESSAGES[1:]))
    [prompt] = told(tmp_path / "journal", "prompt")
    assert answer == "I say this." and f"Look.\n\n{seen}\n\n[Ben]: Read" in prompt["text"]
    assert prompt["text"].startswith("This is the conversation so far.")
    assert book.believed(config.id, "default", local=False).images == (does == "pictures")
    await agents.close()


def test_of_too_many_pictures_the_newest_are_sent() -> None:
    large = "A" * 9_000_000
    _, prompt = as_prompt((shown(large, "One."), shown(large, "Two."), shown("B" * 9_000_000, "Three.")))
    assert [one["type"] for one in prompt] == ["text", "image", "text", "image"]
    assert prompt[0]["text"] == f"One.\n\n{UNSEEN}\n\nTwo." and prompt[3]["data"] == "B" * 9_000_000


@pytest.mark.threat("T11")
async def test_a_program_that_was_not_allowed_does_not_start(tmp_path: Path) -> None:
    agents = ExternalAgents(allowed=lambda _: False, folder=tmp_path / "agents")
    error = await refusal(agents, tiny("say", tmp_path / "journal"))
    assert error.kind == FailureKind.AGENT_NOT_ALLOWED and agents.host_pid is None
    assert not (tmp_path / "journal").exists()
    await agents.close()


async def test_a_program_that_is_not_there_is_named(agents: ExternalAgents) -> None:
    config = ProviderConfig(id="gone", kind="program", command="no-such-agent")
    error = await refusal(agents, config)
    assert (error.kind, error.detail) == (FailureKind.AGENT_MISSING, "no-such-agent")


async def test_a_test_opens_a_session_and_asks_nothing(agents: ExternalAgents, tmp_path: Path) -> None:
    result = await agents.test(tiny("say", tmp_path / "journal"))
    assert (result.ok, result.model, result.models) == (True, "small", ("small", "large"))
    assert not told(tmp_path / "journal", "prompt")
    failed = await agents.test(tiny("auth-new"))
    assert (failed.ok, failed.failure) == (False, FailureKind.AGENT_LOGIN)


@pytest.mark.threat("T1")
async def test_no_key_is_in_what_an_agent_says_of_its_failure_or_in_its_log(tmp_path: Path) -> None:
    key = "sk-a-key-of-the-user"
    agents = ExternalAgents(
        allowed=lambda _: True,
        folder=tmp_path / "agents",
        log_dir=tmp_path / "logs",
        redact=lambda text: text.replace(key, "[removed]"),
    )
    error = await refusal(agents, tiny(f"leak={key}", id="leak"))
    assert (error.kind, error.detail) == (FailureKind.SERVER, "refused the key [removed]")
    await agents.close()
    log = (tmp_path / "logs" / "agent_host.log").read_text()
    assert "my key is [removed]" in log and key not in log


async def test_a_program_that_ends_at_once_is_started_three_times_a_minute(
    agents: ExternalAgents, tmp_path: Path
) -> None:
    config = tiny("die-start", tmp_path / "journal")
    kinds = [(await refusal(agents, config)).kind for _ in range(5)]
    assert kinds == [FailureKind.INTERRUPTED] * 3 + [FailureKind.AGENT_MISSING] * 2
    assert (await refusal(agents, config)).detail == "ended 3 times within a minute"
    # Others are not held up by it.
    assert (await ask(agents, tiny("say")))[0] == "I say this."


async def test_a_program_that_nobody_uses_is_ended_and_started_again(tmp_path: Path) -> None:
    agents = ExternalAgents(allowed=lambda _: True, folder=tmp_path / "agents", unused_seconds=0.3)
    config = tiny("say", tmp_path / "journal")
    await ask(agents, config)
    left = all_below(told(tmp_path / "journal", "start")[0]["pid"])
    await until(lambda: not is_left(left))
    await until(lambda: not agents._processes)
    assert (await ask(agents, config))[0] == "I say this."
    assert len(told(tmp_path / "journal", "start")) == 2
    await agents.close()


@pytest.mark.parametrize("does", ["slow", "ignore-cancel"])
async def test_a_turn_that_is_stopped_is_cancelled_in_the_program(
    agents: ExternalAgents, tmp_path: Path, does: str
) -> None:
    journal = tmp_path / "journal"
    request = ModelRequest(provider="agent", model="", messages=MESSAGES)
    async with aclosing(agents.stream(tiny(does, journal), request)) as deltas:
        if does == "slow":
            # Without message ids known, an id'd piece is shown at once.
            assert await anext(deltas) == Text(text="I begin")
        else:
            assert await anext(deltas) == Text(text="I begin")
    await until(lambda: told(journal, "cancel") != [])
    if does == "ignore-cancel":
        pid = told(journal, "start")[0]["pid"]
        left = all_below(pid)
        await until(lambda: not is_left(left))


async def begun(agents: ExternalAgents, config: ProviderConfig, journal: Path) -> set[tuple[int, int]]:
    """Begin a turn of an agent with a child in a session of its own; return all processes of the host."""
    request = ModelRequest(provider=config.id, model="", messages=MESSAGES)
    deltas = agents.stream(config, request)
    assert await anext(deltas) == Text(text="I begin")
    assert agents.host_pid is not None
    found = all_below(agents.host_pid)
    orphan = int(told(journal, "orphan")[0]["text"])
    assert orphan in {pid for pid, _ in found}
    await until(lambda: orphan in agents._processes)
    running = asyncio.create_task(anext(deltas))

    async def end() -> None:
        await asyncio.wait((running,))
        assert isinstance(running.exception(), ProviderError)
        await deltas.aclose()

    BEGUN.append(end)
    return found


BEGUN: list = []  # type: ignore[type-arg]


@pytest.mark.threat("T13")
@pytest.mark.parametrize("victim", ["agent", "host", "watcher"])
async def test_nothing_is_left_of_an_agent_that_is_killed(
    agents: ExternalAgents, tmp_path: Path, victim: str
) -> None:
    journal = tmp_path / "journal"
    left = await begun(agents, tiny("orphan", journal), journal)
    agent, watcher = told(journal, "start")[0]["pid"], agents.host_pid or 0
    # Two processes are the host: the one that serves and the one that watches it.
    victims = {"agent": agent, "host": parent_of(agent), "watcher": watcher}
    assert parent_of(parent_of(agent)) == watcher
    own = all_below(agent) if victim == "agent" else left
    os.kill(victims[victim], signal.SIGKILL)
    await BEGUN.pop()()
    await until(lambda: not is_left(own))
    # What is asked before the end of the host is noticed fails as a crash of the host.
    await until(lambda: victim == "agent" or agents.host_pid != watcher)
    assert (await ask(agents, tiny("say")))[0] == "I say this."


async def test_what_is_left_after_all_were_killed_ends_at_the_next_start(
    tmp_path: Path,
) -> None:
    journal, folder = tmp_path / "journal", tmp_path / "agents"
    first = ExternalAgents(allowed=lambda _: True, folder=folder)
    left = await begun(first, tiny("orphan", journal), journal)
    await until(lambda: (folder / "processes.json").exists())
    # As if Moot had been killed too: it must not clean up.
    first.on_host_died = lambda _: None  # type: ignore[method-assign, misc]
    host = psutil.Process(first.host_pid)
    # Neither of the host's two processes may find the other one killed, and end what it leaves.
    both = (host, *host.children())
    for sent in (signal.SIGSTOP, signal.SIGKILL):
        for one in both:
            one.send_signal(sent)
    os.kill(told(journal, "start")[0]["pid"], signal.SIGKILL)
    await BEGUN.pop()()
    first._processes = {}
    assert is_left(left)
    second = ExternalAgents(allowed=lambda _: True, folder=folder)
    await second.end_left()
    await until(lambda: not is_left(left))
    assert not (folder / "processes.json").exists()
    await first.close()
    await second.close()
