"""Who speaks next in a free discussion: the rules as a table, the bound, and the measure over 60 turns."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.council import Participant
from app.core.message import Message
from app.engine.debate.modes import bound, next_speaker
from app.engine.debate.setup import set_up_again
from tests.builders import Bench, a_debate, a_setup, failed, people, said, user_said
from tests.repeats import examples

GPT, CLAUDE, GEMINI, LLAMA = FOUR = people(4)


@pytest.mark.parametrize(
    ("messages", "who", "why"),
    [
        pytest.param([said(GPT, "Claude, what now?")], CLAUDE, "addressed", id="addressed"),
        pytest.param([said(GPT, "Hm."), user_said("Llama는 어떻게 생각하나요?")], LLAMA, "asked_by_user", id="user"),
        pytest.param([said(GPT, "Hm."), user_said("GPT, why?")], GPT, "asked_by_user", id="user-asks-the-last"),
        pytest.param(
            [said(LLAMA, "a")] + [said(one, "b") for one in (GPT, CLAUDE, GPT, CLAUDE, GPT)],
            GEMINI, "longest_silent", id="starving",
        ),
    ],
)  # fmt: skip
def test_the_rules(messages: list[Message], who: Participant, why: str) -> None:
    assert next_speaker(a_debate(4), FOUR, messages) == (who, why)


def test_two_cannot_keep_the_floor_for_themselves() -> None:
    turns = [said(one, "x") for one in (LLAMA, GEMINI, GPT, CLAUDE, GPT)]
    speaker, why = next_speaker(a_debate(4), FOUR, [*turns, said(CLAUDE, "GPT, why?")])
    assert speaker in (GEMINI, LLAMA) and why != "addressed"


def test_two_alternate() -> None:
    pair = people(2)
    assert next_speaker(a_debate(2), pair, [said(pair[0], "a")]) == (pair[1], "only_one")


def test_who_failed_is_not_asked_again_at_once() -> None:
    messages = [said(GPT, "Claude, what now?"), failed(CLAUDE)]
    assert next_speaker(a_debate(4), FOUR, messages)[0] != CLAUDE


@settings(max_examples=examples(200), deadline=None)
@given(
    st.integers(2, 6), st.integers(0, 99), st.lists(st.sampled_from([None, 0, 1, 2, 3, 4, 5]), max_size=60)
)
def test_nobody_waits_longer_than_the_bound(count: int, seed: int, targets: list[int | None]) -> None:
    everybody = people(count)
    debate = a_debate(count, seed=seed)
    messages: list[Message] = []
    waits = dict.fromkeys((one.id for one in everybody), 0)
    for target in targets:
        speaker, why = next_speaker(debate, everybody, messages)
        assert next_speaker(debate, everybody, list(messages)) == (speaker, why)
        assert not messages or messages[-1].author.id != speaker.id
        waits = {key: 0 if key == speaker.id else wait + 1 for key, wait in waits.items()}
        assert max(waits.values()) <= bound(count)
        text = "So." if target is None else f"{everybody[target % count].name}, what do you say?"
        messages.append(said(speaker, text, why=why))


def measure(*, chance: float, seed: int, turns: int = 60) -> dict[str, float]:
    """Let four scripted speakers talk; each turn addresses somebody with the given chance."""
    chooser = random.Random(seed)
    favourite = {one.id: chooser.choice([other for other in FOUR if other is not one]) for one in FOUR}
    debate = a_debate(4, seed=seed)
    messages: list[Message] = []
    waits = dict.fromkeys((one.id for one in FOUR), 0)
    longest = same = asked = answered = 0
    target: Participant | None = None
    for _ in range(turns):
        speaker, why = next_speaker(debate, FOUR, messages)
        if messages:
            before = [one.id for one in FOUR].index(messages[-1].author.id)
            same += FOUR[(before + 1) % 4] == speaker
        if target is not None:
            asked += 1
            answered += target == speaker
        waits = {key: 0 if key == speaker.id else wait + 1 for key, wait in waits.items()}
        longest = max(longest, *waits.values())
        target = None
        if chooser.random() < chance:
            others = [one for one in FOUR if one is not speaker]
            target = favourite[speaker.id] if chooser.random() < 0.7 else chooser.choice(others)
        text = f"I see. {target.name}, what do you say?" if target else "I see it so."
        messages.append(said(speaker, text, why=why))
    return {
        "same": same / (turns - 1),
        "longest": longest,
        "answered": answered / asked if asked else 1.0,
    }


def test_a_free_discussion_is_no_round_robin() -> None:
    runs = [measure(chance=0.45, seed=seed) for seed in range(40)]
    silent = [measure(chance=0.0, seed=seed) for seed in range(40)]
    mean = {key: sum(run[key] for run in runs) / len(runs) for key in runs[0]}
    worst = max(run["same"] for run in runs), min(run["answered"] for run in runs)
    quiet = sum(run["same"] for run in silent) / len(silent)
    print(
        f"\nfree discussion, 60 turns of 4, 40 seeds: same as round robin {mean['same']:.0%} (worst {worst[0]:.0%}), "
        f"longest silence {max(run['longest'] for run in runs):.0f} of {bound(4)}, "
        f"addressed answers next {mean['answered']:.0%} (worst {worst[1]:.0%}); "
        f"same as round robin when nobody addresses anybody {quiet:.0%}"
    )
    assert mean["same"] <= 0.60
    # Where the favourites happen to sit in a ring, answering them is the round robin.
    assert sum(run["same"] > 0.60 for run in runs) <= 1
    assert max(run["longest"] for run in runs) <= bound(4)
    assert mean["answered"] >= 0.80
    assert quiet <= 0.60


async def test_a_seed_gives_the_same_order_whatever_the_ids_are(bench: Bench) -> None:
    orders = []
    for run in range(3):
        participants = tuple(replace(one, id=f"{run}-{one.id}") for one in people(5))
        setup = a_setup(5, participants=participants, mode="free", rounds=4, seed=11)
        session_id = await bench.run(setup)
        orders.append([one.author.name for one in bench.messages(session_id)])
    assert orders[0] == orders[1] == orders[2]
    again = set_up_again(bench.debate_of(session_id).debate, ())
    assert again.setup is not None and again.setup.seed == 11
