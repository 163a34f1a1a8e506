"""The checks before a start (D14), and who is seated how."""

from dataclasses import replace

import pytest

from app.core.catalog import ProviderConfig
from app.core.council import Participant
from app.core.errors import BadInput
from app.core.message import Attachment
from app.core.texts import Texts
from app.engine.debate.director import forked
from app.engine.debate.setup import DebateSetup, session_of, set_up_again, title_of
from app.engine.providers import check_base_url, check_key, check_provider, status_of
from app.storage.codec import plain, read_session
from app.storage.paths import resources_dir
from tests.builders import a_debate, a_setup, people, remotes
from tests.memory import MemorySecrets

STATUSES = [status_of(config, MemorySecrets(), "") for config in remotes()]  # type: ignore[arg-type]


def candidate(**fields: str) -> Participant:
    return Participant(**{"id": "x", "name": "X", "provider": "remote0", "model": "model-0", **fields})


def with_seat(**fields: str) -> DebateSetup:
    return a_setup(participants=(people(1)[0], candidate(**fields)))


BAD = [
    (a_setup(topic=""), "topic_empty"),
    (a_setup(topic=" \n\t"), "topic_empty"),
    (a_setup(topic="x" * 1_000_000), "topic_too_long"),
    (a_setup(rounds=0), "rounds_out_of_range"),
    (a_setup(rounds=11), "rounds_out_of_range"),
    (a_setup(rounds=-1), "rounds_out_of_range"),
    (a_setup(rounds=10**9), "rounds_out_of_range"),
    (a_setup(mode="melee"), "unknown_mode"),
    (a_setup(participants=()), "too_few_participants"),
    (a_setup(participants=people(1)), "too_few_participants"),
    (a_setup(participants=tuple(candidate(id=str(place)) for place in range(13))), "too_many_participants"),
    (with_seat(provider="nobody"), "unknown_provider"),
    (with_seat(model="model-9"), "unknown_model"),
    (with_seat(provider="embedded", model="gpt-5"), "unknown_model"),
    (with_seat(name=" [] "), "name_empty"),
    (with_seat(role="r" * 3_000), "role_too_long"),
    (a_setup(mode="roles"), "role_missing"),
    (a_setup(context=(Attachment(name="a", text="x" * 500_000),)), "context_too_much"),
]


@pytest.mark.corpus(54, 55)
@pytest.mark.parametrize(("setup", "code"), BAD)
def test_what_cannot_start_is_refused_by_name(setup: DebateSetup, code: str) -> None:
    with pytest.raises(BadInput) as raised:
        session_of(setup, STATUSES)
    assert raised.value.code == code


def test_names_are_made_distinct_and_fit_a_label() -> None:
    names = ("GPT", "gpt", "User", "A [b]: c\nd", "제미나이")
    participants = tuple(candidate(id=str(place), name=name) for place, name in enumerate(names))
    debate = session_of(a_setup(participants=participants), STATUSES).debate
    assert [one.name for one in debate.participants] == ["GPT", "gpt 2", "User 2", "A b c d", "제미나이"]


def test_ids_are_made_distinct_and_one_model_can_sit_twice() -> None:
    debate = session_of(a_setup(participants=(candidate(), candidate())), STATUSES).debate
    first, second = debate.participants
    assert first.id != second.id and first.model == second.model


def test_voices_of_the_small_model_take_sides_in_turn() -> None:
    voices = tuple(
        candidate(id=name, name=name, provider="embedded", model="smollm2-135m")
        for name in ("Ada", "Ben", "Cleo")
    )
    debate = session_of(a_setup(participants=(*voices, candidate(role="neutral"))), STATUSES).debate
    assert [one.role for one in debate.participants] == ["for", "against", "for", "neutral"]


def test_a_switched_off_or_missing_model_is_refused() -> None:
    off = [status_of(ProviderConfig(id="remote0", kind="ollama", enabled=False), MemorySecrets(), "")]  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="provider_disabled"):
        session_of(a_setup(participants=(candidate(), candidate())), off)
    gone = [status_of(ProviderConfig(id="embedded", kind="embedded"), MemorySecrets(), "not_installed")]  # type: ignore[arg-type]
    voices = (candidate(provider="embedded", model="smollm2-135m"),) * 2
    with pytest.raises(BadInput, match="embedded_missing"):
        session_of(a_setup(participants=voices), gone)


def test_a_seed_that_was_given_is_kept() -> None:
    assert session_of(a_setup(seed=5), STATUSES).debate.seed == 5
    assert session_of(a_setup(), STATUSES).debate.seed != session_of(a_setup(), STATUSES).debate.seed


@pytest.mark.corpus(36)
def test_a_title_is_one_safe_line() -> None:
    assert title_of("a\nb\u202ec") == "a bc"
    assert len(title_of("한" * 300)) == 120


@pytest.mark.parametrize(
    "address",
    [
        "ftp://x",
        "http:/x",
        "http://",
        "http://a b",
        "a b",
        "http://h:99999",
        "h:99999",
        "javascript:alert(1)",
    ],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="base_url_invalid"):
        check_provider(ProviderConfig(id="a", kind="openai", base_url=address))


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("localhost:80", "http://localhost:80"),
        ("Localhost", "http://Localhost"),
        (" http://lab:8080/v1 ", "http://lab:8080/v1"),
        ("llm.example.com/v1", "https://llm.example.com/v1"),
        ("[fe80::1]:8080", "http://[fe80::1]:8080"),
    ],
)
def test_an_address_without_a_scheme_gets_one(address: str, kept: str) -> None:
    kept_config = check_provider(ProviderConfig(id="a", kind="openai", base_url=address))
    assert kept_config.base_url == kept


def test_an_address_that_is_missing_is_asked_for() -> None:
    with pytest.raises(BadInput, match="base_url_empty"):
        check_base_url(" ")


@pytest.mark.threat("T1")
@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("https://user:canary-1@host", "base_url_user"),
        ("https://canary-1@host/v1", "base_url_user"),
        ("user:canary-1@host/v1", "base_url_user"),
        ("nonsense://user:canary-1@host", "base_url_user"),
        ("https://host/v1?api_key=canary-1", "base_url_key"),
        ("https://host/v1?x=1&key=canary-1#y", "base_url_key"),
        ("https://host/v1?Token=canary-1", "base_url_key"),
        ("https://host/v1?id=9f86d081884c7d659a2fcanary-1", "base_url_key"),
        ("ftp://host/v1?q=canary-1", "base_url_invalid"),
    ],
)
def test_a_key_in_an_address_is_refused_and_not_repeated(address: str, code: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_provider(ProviderConfig(id="a", kind="openai", base_url=address))
    assert caught.value.code == code
    for language in ("en", "ko"):
        said = Texts.load(resources_dir() / "i18n", language)(f"error.{code}", **caught.value.details)
        assert "canary" not in said and "host" in said


def test_other_values_in_an_address_are_no_keys() -> None:
    for query in ("api-version=2025-04-01-preview", "region=eu-west-1", "keyboard=1", "token=none"):
        check_provider(ProviderConfig(id="a", kind="openai", base_url=f"https://host/v1?{query}"))


@pytest.mark.parametrize("key", ["", "  \n", "a b", "kéy", "a\nb", "sk-\u200bhidden", "열쇠", "x" * 30_000])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(BadInput):
        check_key(key)
    assert check_key(" sk-1 \n") == "sk-1"


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (ProviderConfig(id="openai", kind="openai"), "no_key"),
        (ProviderConfig(id="openai", kind="openai", enabled=False), "disabled"),
        (ProviderConfig(id="x", kind="openai-compatible"), "no_address"),
        (ProviderConfig(id="x", kind="openai-compatible", base_url="http://h"), "no_model"),
        (ProviderConfig(id="x", kind="telepathy"), "unknown_kind"),
        (ProviderConfig(id="ollama", kind="ollama"), ""),
    ],
)
def test_a_provider_says_what_it_lacks(config: ProviderConfig, problem: str) -> None:
    status = status_of(config, MemorySecrets(), "")  # type: ignore[arg-type]
    assert (status.problem, status.ready) == (problem, not problem)


def test_a_debate_is_set_up_once_more_as_it_was() -> None:
    gpt, claude, gemini = people(3)
    second = replace(claude, id="added-1", name="Claude 2", system_prompt="Be short.", effort="high")
    gone = replace(gemini, id="gone", provider="nobody", model="no-model")
    debate = a_debate(3, mode="free", rounds=5, polls=True, participants=(claude, second, gone))
    draft = set_up_again(debate, (gpt, replace(claude, model="another"), replace(claude, id="plain")))
    assert draft.text == debate.topic
    assert draft.setup is not None
    assert (draft.setup.mode, draft.setup.rounds, draft.setup.polls) == ("free", 5, True)
    assert [(one.id, one.name, one.chosen, one.added) for one in draft.setup.seats] == [
        # Who took no part does not, and a seat that speaks with another model now is taken by one that does not.
        ("p0", "", False, False),
        ("p1", "", False, False),
        ("plain", "", False, False),
        ("p1", "Claude", True, True),
        ("added-1", "Claude 2", True, True),
        ("gone", "Gemini", True, True),
    ]
    assert (draft.setup.seats[4].system_prompt, draft.setup.seats[4].effort) == ("Be short.", "high")
    assert [one.id for one in set_up_again(debate, debate.participants).setup.seats if one.added] == []  # type: ignore[union-attr]
    # An assistant may have another model by now; a provider's model is nobody else.
    other = replace(claude, model="another")
    for ids, added in (((), False), (("p1",), True)):
        seats = set_up_again(debate, (other,), ids).setup.seats  # type: ignore[union-attr]
        assert [one.added for one in seats if one.name == "Claude"] == [added]


@pytest.mark.parametrize(("mode", "role"), [("round-robin", ""), ("roles", "for")])
def test_only_roles_that_were_given_are_given_again(mode: str, role: str) -> None:
    debate = a_debate(1, mode=mode, participants=(replace(people(1)[0], role="for"),))
    setup = set_up_again(debate, people(1)).setup
    assert setup is not None
    assert [one.role for one in setup.seats] == [role]


def test_a_file_as_it_looks_is_kept_by_the_session_and_its_fork() -> None:
    file = Attachment(name="a.pdf", media_type="application/pdf", text="a", data="JVBE", pages=("eA==",))
    session = session_of(a_setup(context=(file,)), STATUSES)
    assert session.debate.context == (file,) == forked(session, (), {}).debate.context
    assert set_up_again(session.debate, ()).setup.looks  # type: ignore[union-attr]


def test_a_log_from_before_files_had_a_look_is_read() -> None:
    session = session_of(a_setup(context=(Attachment(name="a.md", text="a"),)), STATUSES)
    record = plain(session)
    record["debate"]["context"] = [{"name": "a.md", "text": "a"}]
    assert read_session(session.id, record) == (session, False)


@pytest.mark.parametrize(
    ("kind", "address", "local"),
    [
        ("openai-compatible", "https://api.example.com/v1", False),
        ("openai-compatible", "http://192.168.0.7:8080/v1", True),
        ("ollama", "https://ollama.example.com", False),
        ("ollama", "", True),
        ("ollama", "http://models.local:11434", True),
        ("openai", "http://127.0.0.1:9000/v1", False),
        ("embedded", "", True),
    ],
)
def test_a_server_is_local_by_its_address(kind, address, local):
    config = ProviderConfig(id="own", kind=kind, base_url=address, models=("a",))
    assert status_of(config, MemorySecrets(), "").local is local  # type: ignore[arg-type]
