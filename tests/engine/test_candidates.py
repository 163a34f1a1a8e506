"""Assistants at the table: which model they speak with, and what becomes of their instructions (rows D2, D5, S8)."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL, LOCAL, PROGRAM, ProviderConfig
from app.core.council import Participant
from app.core.definitions import Agent
from app.core.message import Attachment
from app.core.provider import ProviderStatus
from app.engine.council.panels import assembled
from app.engine.debate.modes import role_text, system_prompt
from app.engine.debate.perspective import TRANSCRIPT_PERSONA, Turn, transcript_request
from app.engine.debate.setup import Candidate, candidates_of
from app.engine.providers import status_of
from tests.builders import PROMPTS, Bench, a_bench, a_debate, a_log_store, a_setup
from tests.memory import MemorySecrets

TOLD = "Count the {costs} first. Quote KESTREL numbers."
REVIEWER = Agent(id="reviewer", name="Reviewer", instructions=TOLD)


def bench_of(tmp_path: Path, *agents: Agent, **fields: object) -> Bench:
    return a_bench(a_log_store(tmp_path / "data"), agents=agents, **fields)  # type: ignore[arg-type]


def seat_of(bench: Bench, candidate_id: str) -> Candidate:
    return next(one for one in bench.engine.debates.candidates() if one.participant.id == candidate_id)


async def test_an_assistant_on_the_default_model_sits_with_the_first_that_is_ready(tmp_path: Path) -> None:
    keyed = [ProviderConfig(id="openai", kind="openai"), ProviderConfig(id="gemini", kind="gemini")]
    bench = bench_of(tmp_path, REVIEWER, providers=keyed, secrets=MemorySecrets(gemini="k"))
    candidate = seat_of(bench, "reviewer")
    assert (candidate.participant.provider, candidate.participant.model) == (
        "gemini",
        candidate.status.default_model,
    )
    assert candidate.status.ready and not candidate.chosen and not candidate.plain
    assert (candidate.participant.persona, candidate.participant.system_prompt) == (TOLD, "")
    without = bench_of(tmp_path / "b", REVIEWER, providers=keyed)
    assert seat_of(without, "reviewer").participant.provider == "embedded"


async def test_assistants_keep_their_model_and_the_users_order_and_those_switched_off_stay_away(
    tmp_path: Path,
) -> None:
    agents = (
        REVIEWER,
        Agent(id="own", name="Own", provider="remote1", model="model-1"),
        Agent(id="off", name="Off", enabled=False),
        Agent(id="lost", name="Lost", provider="gone", model="m"),
    )
    bench = bench_of(tmp_path, *agents)
    settings = replace(bench.engine.settings(), assistant_order=("own", "reviewer"))
    await bench.engine.change_settings(lambda _: settings)
    candidates = [one for one in bench.engine.debates.candidates() if not one.plain]
    assert [one.participant.id for one in candidates] == ["own", "reviewer"]
    assert (candidates[0].participant.provider, candidates[0].participant.model) == ("remote1", "model-1")
    assert seat_of(bench, "remote0").plain


async def test_an_assistant_that_bears_the_name_of_a_voice_has_a_seat_beside_it(tmp_path: Path) -> None:
    bench = bench_of(
        tmp_path, Agent(id="ada", name="Ada"), Agent(id="remote0", name="Remote0", enabled=False)
    )
    ids = [one.participant.id for one in bench.engine.debates.candidates()]
    assert len(ids) == len(set(ids))
    assert not seat_of(bench, "ada").plain
    assert seat_of(bench, "seat-ada").plain and seat_of(bench, "seat-remote0").plain


@pytest.mark.parametrize("mode", ["round-robin", "free", "roles"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_instructions_are_a_part_of_the_prompt_and_never_all_of_it(mode: str, language: str) -> None:
    first, second = a_debate(2).participants
    speaker = replace(first, persona=TOLD, role="against")
    debate = a_debate(2, participants=(speaker, second), mode=mode, language=language)
    prompt = system_prompt(debate, speaker, PROMPTS)
    assert TOLD in prompt
    assert PROMPTS.text(language, f"mode-{mode}") in prompt
    assert role_text("against", language, PROMPTS) in prompt
    assert PROMPTS.text(language, "rules", name=speaker.name) in prompt
    assert second.name in prompt
    plain = system_prompt(debate, replace(speaker, persona=" \n"), PROMPTS)
    assert PROMPTS.text(language, "persona", text="").strip() not in plain
    own = replace(speaker, system_prompt="You are terse.")
    assert system_prompt(debate, own, PROMPTS) == "You are terse."


async def test_the_generated_prompt_is_shown_beside_the_users_own(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, REVIEWER)
    own = replace(seat_of(bench, "reviewer").participant, system_prompt="You are terse.")
    setup = a_setup(2, participants=(own, a_setup(2).participants[1]))
    assert bench.engine.debates.system_prompt(setup, own) == "You are terse."
    generated = bench.engine.debates.system_prompt(setup, replace(own, system_prompt=""))
    assert TOLD in generated and "terse" not in generated


async def test_an_assistant_debates_with_its_own_effort_creativity_and_length(tmp_path: Path) -> None:
    wish = {"effort": "high", "creativity": "precise", "length": "short"}
    bench = bench_of(tmp_path, replace(REVIEWER, provider="remote2", model="model-2", **wish))
    reviewer = seat_of(bench, "reviewer").participant
    session_id = await bench.run(a_setup(2, participants=(reviewer, a_setup(2).participants[1]), rounds=1))
    mine, other = bench.models.requests
    assert (mine.effort, mine.temperature, other.effort, other.temperature) == ("high", 0.2, "auto", None)
    await bench.engine.shutdown()
    again = a_log_store(tmp_path / "data")
    stored = await again.load(session_id)
    await again.close()
    assert stored.session.debate.participants[0].effort == "high"  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", ["chat", "transcript"])
async def test_what_an_assistant_is_told_is_sent_with_its_turn(tmp_path: Path, form: str) -> None:
    bench = bench_of(tmp_path, replace(REVIEWER, provider="embedded" if form == "transcript" else "remote2"))
    reviewer = replace(seat_of(bench, "reviewer").participant, model="")
    if form == "chat":
        reviewer = replace(reviewer, model="model-2")
    setup = a_setup(2, participants=(reviewer, a_setup(2).participants[1]), rounds=1)
    session_id = await bench.run(setup)
    mine, other = bench.models.requests
    assert TOLD in str(mine.messages[0]["content"])
    assert TOLD not in str(other.messages)
    assert bench.debate_of(session_id).debate.participants[0].persona == TOLD
    await bench.engine.shutdown()
    again = a_log_store(tmp_path / "data")
    stored = await again.load(session_id)
    await again.close()
    assert stored.session.debate.participants[0].persona == TOLD  # type: ignore[attr-defined]


def test_a_small_model_gets_as_much_of_the_instructions_as_it_can_hold() -> None:
    first, second = (
        Participant(id=name, name=name, provider="embedded", model="m", role=role, persona=persona)
        for name, role, persona in (("Ada", "for", "Be brief.\n" + "x" * 5_000), ("Ben", "against", "y"))
    )
    debate = a_debate(2, participants=(first, second), context=(Attachment(name="a", text="b"),))
    turn = Turn(debate=debate, messages=[], speaker=first, round=1)
    (message,) = transcript_request(turn, PROMPTS).messages
    lines = str(message["content"]).splitlines()
    told = next(line for line in lines if line.startswith("Ada follows these instructions: Be brief. xxx"))
    assert len(told) < TRANSCRIPT_PERSONA + 50 and told.endswith(" …")
    assert not any("Ben follows" in line for line in lines)
    assert lines.index(told) < lines.index("Background: a: b")


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        (
            ("qwen3.5-2b", "qwen3.5-4b", "gemma4-e2b"),
            [("qwen3.5-2b", "qwen3.5-2b"), ("gemma4-e2b", "gemma4-e2b")],
        ),
        (("qwen3.5-2b", "qwen3.5-4b"), [("qwen3.5-2b", "qwen3.5-2b"), ("qwen3.5-2b 2", "qwen3.5-2b")]),
        (("gemma4-e2b",), [("gemma4-e2b", "gemma4-e2b"), ("gemma4-e2b 2", "gemma4-e2b")]),
        ((), [("Ada", EMBEDDED_MODEL), ("Ben", EMBEDDED_MODEL)]),
    ],
    ids=["two families", "two of one family", "one", "none"],
)
async def test_downloaded_models_debate_by_default_where_nobody_has_a_key(
    tmp_path: Path, models: tuple[str, ...], chosen: list[tuple[str, str]]
) -> None:
    local = [ProviderConfig(id=LOCAL, kind=LOCAL, models=models)] if models else []
    configs = [*local, ProviderConfig(id=EMBEDDED, kind=EMBEDDED)]
    engine = bench_of(tmp_path, providers=configs).engine
    candidates = engine.debates.candidates()
    assert [(one.participant.name, one.participant.model) for one in candidates if one.chosen] == chosen
    assert {one.participant.model for one in candidates} == {*models, EMBEDDED_MODEL}
    seats = [one.model for one in engine.councils.assembled()]
    # A panel has each family once, and of a single one every model.
    assert seats == {3: ["qwen3.5-2b", "gemma4-e2b"], 2: list(models), 1: list(models), 0: []}[len(models)]


def test_external_agents_that_may_run_debate_where_nobody_has_a_key() -> None:
    def status(name: str, kind: str, key_source: str = "") -> ProviderStatus:
        return ProviderStatus(
            config=ProviderConfig(id=name, kind=kind), label=name.title(), base_url="", models=("default",),
            default_model="default", local=False, needs_key=False, key_source=key_source, ready=True,
        )  # fmt: skip

    built_in = status(EMBEDDED, EMBEDDED)
    agents = [status("ann", PROGRAM), status("ben", PROGRAM)]

    def chosen(*statuses: ProviderStatus) -> list[str]:
        return [one.participant.provider for one in candidates_of((), statuses) if one.chosen]

    assert chosen(built_in, *agents) == ["ann", "ben"]
    # One alone takes part twice, as a provider with a key does.
    assert chosen(built_in, agents[0]) == ["ann", "ann"]
    keyed = status("openai", "openai", key_source="keyring")
    assert chosen(built_in, *agents, keyed) == ["openai", "openai"]
    assert chosen(built_in) == [EMBEDDED, EMBEDDED]


def test_a_server_of_the_users_own_decides_with_a_model_of_each_of_three_families() -> None:
    def chosen(
        *models: str, address: str = "http://127.0.0.1:11434/v1", key: str = ""
    ) -> list[tuple[str, str]]:
        ollama = ProviderConfig(id="ollama", kind="ollama", base_url=address, models=models)
        configs = (
            ollama,
            ProviderConfig(id="openai", kind="openai"),
            ProviderConfig(id=EMBEDDED, kind=EMBEDDED),
        )
        secrets = MemorySecrets(openai=key) if key else MemorySecrets()
        statuses = [status_of(config, secrets, "") for config in configs]
        seats = [each.participant for each in candidates_of((), statuses) if each.chosen]
        if seats[0].provider == "ollama":
            assert [seat.model for seat in assembled(statuses, {})] == [seat.model for seat in seats]
        return [(seat.name, seat.model) for seat in seats]

    four = ("llama3.1:8b", "llama3.2:3b", "qwen3:8b", "gemma3:12b", "mistral:7b")
    assert chosen(*four) == [(name, name) for name in ("llama3.1:8b", "qwen3:8b", "gemma3:12b")]
    assert chosen(*four[:3]) == [(name, name) for name in ("llama3.1:8b", "qwen3:8b")]
    # What Ollama runs elsewhere is not chosen unasked.
    assert chosen("llama3.1:8b", "qwen3:480b-cloud", "gemma3:12b")[1] == ("gemma3:12b", "gemma3:12b")
    assert [model for _name, model in chosen("llama3.1:8b", "llama3.2:3b")] == ["llama3.1:8b", "llama3.2:3b"]
    # A server that nobody took, and one elsewhere, are not: nor is any beside a provider with a key.
    assert {model for _name, model in chosen()} == {EMBEDDED_MODEL}
    assert {model for _name, model in chosen(*four, address="http://models.example/v1")} == {EMBEDDED_MODEL}
    assert all(model.startswith("gpt") for _name, model in chosen(*four, key="k"))
