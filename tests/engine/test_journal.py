"""Panels and the journal: what is saved and shared, what comes due, and how right models have been."""

from dataclasses import replace
from datetime import date

import pytest

from app.cli.printing.lines import load_texts
from app.core.council import ANY_JUDGE, NO_JUDGE, Calibration, CastVote, Decision, Ends, Panel
from app.core.definitions import Agent
from app.core.errors import BadInput, NotFound
from app.core.message import Role
from app.core.provider import ProviderStatus
from app.engine.council.panels import assembled
from app.engine.council.record import Record
from app.engine.decisions import decided_object, listed, options_of, standing
from app.engine.scores import (
    CALIBRATED,
    Score,
    calibrations,
    held_up,
    is_right,
    score_texts,
    scores,
    usual_text,
)
from app.engine.session_kinds import session_document
from app.storage.codec import plain, read_session
from tests.builders import Bench, people
from tests.engine.test_council import held, made, wanted

__all__ = ["made"]


async def test_a_panel_is_saved_shared_and_brought_in(made: Bench) -> None:
    panels = made.engine.councils.panels
    saved = await panels.save(Panel(id="", name="Four families", participants=people(4), rounds=3))
    assert saved.id == "four-families" and panels.find("Four families").participants == people(4)
    shared = panels.read_shared(panels.share(saved.id))
    again = await panels.bring_in(shared)
    assert (again.id, again.participants, again.rounds) == ("four-families-2", people(4), 3)
    for wrong in (replace(saved, participants=people(1)), replace(saved, rounds=9), replace(saved, name=" ")):
        with pytest.raises(BadInput):
            await panels.save(wrong)


async def test_a_council_is_asked_as_its_panel_says_unless_it_is_told_otherwise(made: Bench) -> None:
    councils = made.engine.councils
    own = Panel(id="", name="Three", participants=people(3), rounds=3, judge=NO_JUDGE, debates=True)
    saved = await councils.panels.save(own)
    shared = councils.panels.read_shared(councils.panels.share(saved.id)).definition
    assert replace(shared, id=saved.id, version=saved.version) == saved
    live = made.engine.live(await held(made))
    assert live is not None
    debate = live.debate_session.debate
    council = debate.council
    assert council is not None and (council.panel, council.offered_rounds, debate.judge) == (
        "Three",
        3,
        "none",
    )
    # What was open has been debated without anybody asking for it, until nobody moved.
    assert 1 <= Record(debate, live.messages).rounds <= council.rounds == 3
    assert not Record(debate, live.messages).readings()
    asked = wanted(rounds=1, judge="remote0/model-0", ends=Ends.NONE, differences=False)
    live = made.engine.live(await held(made, asked))
    assert live is not None
    debate, council = live.debate_session.debate, live.debate_session.debate.council
    assert council is not None and (council.offered_rounds, council.rounds) == (1, 0)
    assert (council.differences, debate.judge, council.panel) == (False, "remote0/model-0", "Three")
    await councils.panels.save(replace(saved, judge="gone/model"))
    live = made.engine.live(await held(made, wanted(ends=Ends.NONE)))
    assert live is not None and live.debate_session.debate.judge == ANY_JUDGE
    for wrong in ({"rounds": 9}, {"judge": "gone/model"}, {"panel": "Nobody"}):
        with pytest.raises((BadInput, NotFound)):
            councils.check(wanted(**wrong))


async def test_a_decision_keeps_the_votes_comes_due_and_is_settled(made: Bench) -> None:
    await made.engine.councils.panels.save(Panel(id="", name="Three", participants=people(3)))
    session_id = await held(made)
    live = made.engine.live(session_id)
    assert live is not None
    journal = made.engine.journal
    with pytest.raises(BadInput, match="journal_date"):
        await journal.decide(live, "Postgres", due="tomorrow")
    kept = await journal.decide(live, "Postgres", sign="no locks in June", due="2026-06-30")
    assert (kept.headline, kept.state, kept.panel) == ("Postgres", "leaning", "Three")
    assert kept.votes[1] == CastVote(
        model="remote1/model-1", before="SQLite", before_sure=70, after="SQLite", after_sure=70
    )
    journal.today = lambda: date(2026, 6, 29)
    assert journal.due() == ()
    journal.today = lambda: date(2026, 6, 30)
    assert [one.id for one in journal.due()] == [session_id]
    await journal.settle(session_id, "held")
    journal.today = lambda: date(2026, 7, 1)
    assert journal.due() == ()
    found = scores(journal.all())
    assert (found["remote0/model-0"].count, found["remote0/model-0"].right) == (1, 1)
    assert found["remote0/model-0"].before == found["remote0/model-0"].after == pytest.approx(0.09)
    assert found["remote1/model-1"].after == pytest.approx(0.49)
    assert held_up(journal.all()) == {"leaning": (1, 1), "panel Three": (1, 1)}
    with pytest.raises(BadInput):
        await journal.settle(session_id, "perhaps")


def test_what_failed_is_wrong_and_of_the_others_nothing_is_known() -> None:
    vote = CastVote(model="a/b", before="A", before_sure=90, after="B", after_sure=60)
    failed = Decision(id="1", name="?", decided="A", headline="A", result="failed", votes=(vote,))
    assert (is_right(failed, "A"), is_right(failed, "B")) == (False, None)
    assert scores([failed]) == {}
    known = replace(failed, right="B")
    score = scores([known])["a/b"]
    assert (score.count, score.right, score.before, score.after) == (
        1,
        1,
        pytest.approx(0.81),
        pytest.approx(0.16),
    )
    assert is_right(replace(known, result="unknown"), "A") is None


def test_a_model_has_hit_rates_from_twenty_votes_on() -> None:
    def decision(place: int, sure: int, right: str) -> Decision:
        vote = CastVote(model="a/b", before="A", before_sure=50, after="A", after_sure=sure)
        return Decision(id=str(place), name="?", decided="A", result="failed", right=right, votes=(vote,))

    cast = [(60, "A")] * 4 + [(61, "B")] * 6 + [(80, "A")] * 2 + [(95, "A")] * 8
    decisions = [decision(place, *one) for place, one in enumerate(cast)]
    assert calibrations(decisions[1:]) == ()
    (found,) = calibrations(decisions)
    # (hits + 1) of (votes + 2) in each bin: 5 of 6, 3 of 10, 1 of 2, 9 of 10.
    assert (found.model, found.rates) == ("a/b", (83, 30, 50, 90))
    assert [found.rate(sure) for sure in (0, 60, 61, 80, 81, 90, 91, 100)] == [83, 83, 30, 30, 50, 50, 90, 90]
    unknown = [replace(one, result="unknown", right="") for one in decisions]
    assert calibrations(unknown) == ()


async def test_a_council_keeps_the_hit_rates_it_began_with(made: Bench) -> None:
    journal, model = made.engine.journal, "remote0/model-0"
    for place in range(CALIBRATED):
        votes = tuple(
            CastVote(model=one, before="A", before_sure=70, after="A", after_sure=70)
            for one in (model, "not/asked")
        )
        await journal.save(
            Decision(id=f"d{place}", name="?", decided="A", result="held", right="A", votes=votes)
        )
    session_id = await held(made)
    await journal.save(Decision(id="d0", name="?", decided="A", result="unknown"))
    live = made.engine.live(session_id)
    assert live is not None and live.debate_session.debate.council is not None
    (kept,) = live.debate_session.debate.council.calibrations
    assert kept == Calibration(model=model, rates=(50, 95, 50, 50))
    await made.store.flush(session_id)
    record = plain(live.session)
    # Sessions of before hold who was to read a debate that begins by itself.
    record["debate"]["council"]["wanted_judge"] = "openai/gpt"
    again = read_session(session_id, record)[0]
    assert again.debate.council.calibrations == (kept,)
    assert Record(live.debate_session.debate, live.messages).calibrated == {"p0": kept}


def _status(template: ProviderStatus, name: str, *models: str) -> ProviderStatus:
    kind = "openai" if len(models) > 1 else "openai-compatible"
    config = replace(template.config, id=name, kind=kind, label=name.title())
    return replace(template, config=config, models=models, default_model=models[0], ready=True)


async def test_a_panel_assembles_itself_from_the_families_that_are_ready(made: Bench) -> None:
    template = made.engine.providers()[0]
    names = {
        "one": "gpt-5",
        "two": "claude-opus",
        "three": "gemini-3",
        "four": "mistral-large",
        "five": "qwen-3",
    }
    statuses = [_status(template, name, model) for name, model in names.items()]

    def chosen(count: int, found: dict[str, Score] | None = None) -> list[str]:
        return [one.model for one in assembled(statuses[:count], found or {})]

    assert chosen(2) == ["gpt-5", "claude-opus"]
    # From four families up one is left for the judge.
    assert [len(chosen(count)) for count in (3, 4, 5)] == [3, 3, 4]
    assert (
        chosen(5, {"five/qwen-3": Score(count=10, before=0.2, after=0.1), "one/gpt-5": Score(count=9)})[0]
        == "qwen-3"
    )
    # A server that has but an address gives its participants the names of their models, in every language.
    nameless = replace(statuses[0], config=replace(statuses[0].config, label=""))
    assert [one.name for one in assembled([nameless, statuses[1]], {})] == ["gpt-5", "claude-opus"]
    alone = [_status(template, "one", "gpt-5", "gpt-4")]
    rated = {"one/gpt-4": Score(count=12, before=0.3, after=0.3)}
    assert [(one.name, one.model) for one in assembled(alone, rated)] == [
        ("One", "gpt-4"),
        ("One 2", "gpt-5"),
    ]


WORDS = load_texts("en")


def judged(sure: int, right: int, count: int) -> Score:
    """Return the score of a model that was `right` times of `count` right, always so sure."""
    cast = CastVote(model="a/b", before="A", before_sure=sure, after="A", after_sure=sure)
    known = [
        Decision(id=f"{place}", name="?", decided="A", result="failed", right="A" if place < right else "B", votes=(cast,))
        for place in range(count)
    ]  # fmt: skip
    return scores(known)["a/b"]


@pytest.mark.parametrize(
    ("sure", "right", "count", "said"),
    [
        (80, 4, 4, ("Too few to tell: 4 of 5", "")),
        (75, 9, 12, ("right 9 of 12", "as sure as it should be")),
        (80, 8, 12, ("right 8 of 12", "a little too sure")),
        (95, 6, 12, ("right 6 of 12", "much too sure")),
        (60, 9, 12, ("right 9 of 12", "a little less sure than it could be")),
        (50, 12, 12, ("right 12 of 12", "much less sure than it could be")),
    ],
)
def test_how_right_a_model_was_is_said_in_words(
    sure: int, right: int, count: int, said: tuple[str, str]
) -> None:
    assert score_texts(judged(sure, right, count), WORDS) == said


def test_one_sentence_says_how_often_a_model_was_right_when_it_was_so_sure() -> None:
    assert usual_text("Claude", judged(82, 9, 12), WORDS) == (
        "When Claude said 80%, it was right 9 times of 12."
    )


async def test_a_chat_and_a_debate_keep_a_decision_too(made: Bench) -> None:
    journal = made.engine.journal
    ann = await made.engine.assistants.save(Agent(id="ann", name="Ann", provider="remote0", model="model-0"))
    chat = await made.engine.chats.start(ann.id, "Postgres or SQLite?")
    await made.engine.wait(chat)
    live = await made.engine.open(chat)
    assert session_document(live, None)["decision"] == {"decided": None}
    message = next(each for each in live.messages if each.role == Role.ASSISTANT)
    kept = await journal.decide(
        live,
        "SQLite\nfor now",
        why="One server.",
        sure=75,
        sign="no lock",
        due="2026-06-30",
        message=message.id,
    )
    assert (kept.kind, kept.decided, kept.who, kept.message) == (
        "chat", "SQLite for now", (message.author.name,), message.id,
    )  # fmt: skip
    assert session_document(live, kept)["decision"] == {
        "decided": {
            "option": "",
            "text": "SQLite for now",
            "why": "One server.",
            "sure": 75,
            "signal": "no lock",
            "check_on": "2026-06-30",
            "at": kept.at,
            "came": None,
        }
    }
    settled = await journal.settle(chat, "failed", note="Locks in May.")
    assert decided_object(settled)["came"] == {  # type: ignore[index]
        "true": False, "note": "Locks in May.", "at": settled.known_at,
    }  # fmt: skip
    # The same again, said better, leaves what came of it; another decision is open again.
    again = await journal.decide(live, "SQLite for now", why="One server, two people.")
    assert (again.result, again.at, again.message) == ("failed", kept.at, message.id)
    assert (await journal.decide(live, "Postgres")).result == ""
    for wrong in ({"sure": 101}, {"sure": -1}, {"due": "soon"}, {"why": "x" * 5_000}):
        with pytest.raises(BadInput):
            await journal.decide(live, "Postgres", **wrong)  # type: ignore[arg-type]


async def test_an_option_is_meant_by_its_letter_its_words_or_its_id(made: Bench) -> None:
    live = made.engine.live(await held(made))
    assert live is not None
    journal = made.engine.journal
    (first, letter, text), *_ = options_of(live)
    for typed in (letter.lower(), text.upper(), first):
        kept = await journal.decide(live, typed)
        assert (kept.option, kept.decided) == (first, text)
    kept = await journal.decide(live, "Neither, we wait")
    assert (kept.option, kept.decided) == ("", "Neither, we wait")


async def test_a_verdict_stands_undecided_until_the_user_decides(made: Bench) -> None:
    journal = made.engine.journal
    session_id = await held(made, wanted(ends=Ends.VERDICT))
    await made.engine.journal.close()
    (waiting,) = journal.all()
    assert (waiting.id, waiting.headline, waiting.decided) == (session_id, "Postgres", "")
    assert standing(waiting, journal.today()) == "not_decided"
    assert journal.due() == () and decided_object(waiting) is None
    with pytest.raises(BadInput, match="journal_undecided"):
        await journal.settle(session_id, "held")
    live = made.engine.live(session_id)
    assert live is not None
    await journal.decide(live, "SQLite")
    live.change(title="Another title")
    await journal.close()
    (kept,) = journal.all()
    assert (kept.decided, kept.headline) == ("SQLite", "Postgres")


def test_due_ones_come_first_then_the_latest() -> None:
    today = date(2026, 11, 28)
    rows = [
        Decision(id="old", name="?", decided="A", at="2026-09-01T00:00:00Z"),
        Decision(id="late", name="?", decided="A", due="2026-11-20", at="2026-08-01T00:00:00Z"),
        Decision(id="later", name="?", decided="A", due="2026-11-28", at="2026-11-01T00:00:00Z"),
        Decision(id="soon", name="?", decided="A", due="2026-11-29", at="2026-11-02T00:00:00Z"),
        Decision(id="true", name="?", decided="A", due="2026-11-20", result="held", at="2026-10-01T00:00:00Z"),
        Decision(id="open", name="?", headline="A", at="2026-11-27T00:00:00Z"),
        # Of an entry of before the id says when its session began.
        Decision(id="01m4ydqk00000000000000000a", name="?", decided="A"),
    ]  # fmt: skip
    assert [each.id for each in listed(rows, today)] == [
        "late", "later", "open", "soon", "01m4ydqk00000000000000000a", "true", "old",
    ]  # fmt: skip
    assert [standing(each, today) for each in rows[:6]] == [
        "kept", "due", "due", "kept", "came_true", "not_decided",
    ]  # fmt: skip
