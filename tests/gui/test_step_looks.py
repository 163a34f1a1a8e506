"""How the steps of a workflow read: what was cut, what counts as done, how long it was worked on."""

from dataclasses import replace

import pytest

from app.core.definitions import Agent, StepState, WorkflowDefinition, WorkflowStep
from app.core.session import Chat, Status, WorkflowSession, WorkflowState
from app.gui.display.appearance import Language, Look
from app.gui.panels.workflow.step_list import (
    GIVE,
    SKIP,
    STOP,
    StepRow,
    any_runs,
    done_count,
    looks_of,
    made_of,
)
from app.storage.paths import resources_dir

NIGHT = {"started_at": "2026-11-21T20:00:00Z", "ended_at": "2026-11-22T08:00:00Z"}


@pytest.fixture
def words(qapp):
    return Language(resources_dir() / "i18n", "en")


def session(*states: StepState, status: str = Status.PAUSED) -> WorkflowSession:
    steps = tuple(WorkflowStep(id=one.id, name=one.id, role="QA", prompt="Do it.") for one in states)
    work = WorkflowState(
        definition=WorkflowDefinition(id="trio", name="Trio", steps=steps), command="Go", steps=states
    )
    chat = Chat(assistant_id="workflow")
    return WorkflowSession(id="s", title="Go", kind="workflow", status=status, chat=chat, workflow=work)


def test_what_was_cut_does_not_work_on(words):
    cut = StepState(id="a", state="running", attempt=1, started_at="2026-11-21T20:00:00Z")
    [look] = looks_of(session(cut), {}, {}, words)
    assert (look.text, look.action, look.others) == ("interrupted", "", (SKIP,))
    assert look.why == words("step_reason.cut")
    assert not any_runs(session(cut))
    running = session(cut, status=Status.RUNNING)
    [look] = looks_of(running, {}, {}, words)
    assert look.text.startswith("working") and look.action == STOP and any_runs(running)


def test_where_nothing_runs_nobody_is_waited_for(words):
    waits = StepState(id="a", state="waiting", reason="busy", attempt=1)
    [look] = looks_of(session(waits, status=Status.RUNNING), {}, {}, words)
    assert (look.text, look.tone, look.why) == ("queued", "neutral", words("step_reason.busy", name="QA"))
    [look] = looks_of(session(waits), {}, {}, words)
    assert (look.text, look.why) == ("ready", "")


def test_a_queued_step_does_not_ask_for_the_user(qapp):
    korean = Language(resources_dir() / "i18n", "ko")
    waits = StepState(id="a", state="waiting", reason="busy", attempt=1)
    asks = StepState(id="b", state="waiting", reason="question", attempt=1)
    first, second = looks_of(session(waits, asks, status=Status.RUNNING), {}, {}, korean)
    assert (first.text, second.text) == ("대기 중", "확인 필요")
    row = StepRow(korean, Look(qapp, resources_dir(), "light"), "a")
    for look, said in ((first, "a, QA, 대기 중"), (second, "b, QA, 확인 필요")):
        row.show_look(look)
        assert row.accessibleName() == said


def test_what_failed_stopped_or_waits_can_be_given_to_somebody_else(words):
    states = [
        StepState(id="a", state="failed", reason="server"),
        StepState(id="b", state="failed", reason="said_blocked"),
        StepState(id="c", state="cancelled", reason="by_user"),
        StepState(id="d", state="waiting", reason="busy"),
        StepState(id="e", state="waiting", reason="no_marker"),
        StepState(id="f", state="running"),
        StepState(id="g", state="done"),
        StepState(id="h", state="pending"),
    ]
    shown = session(*states, status=Status.RUNNING)
    assert [look.id for look in looks_of(shown, {}, {}, words) if GIVE in look.others] == [*"abcde"]
    gates = tuple(replace(step, gate=True) for step in shown.workflow.definition.steps)
    work = replace(shown.workflow, definition=replace(shown.workflow.definition, steps=gates))
    assert not any(GIVE in look.others for look in looks_of(replace(shown, workflow=work), {}, {}, words))


def test_what_a_failure_blocks_is_not_counted_as_done():
    steps = (
        StepState(id="a", state="done"),
        StepState(id="b", state="failed", reason="server"),
        StepState(id="c", state="skipped", reason="blocked"),
        StepState(id="d", state="skipped", reason="by_user"),
    )
    assert done_count(session(*steps)) == 2


def test_a_night_in_between_is_no_time_at_work(words):
    [look] = looks_of(session(StepState(id="a", state="done", seconds=65.4, **NIGHT)), {}, {}, words)
    assert look.text == "1 min 5 s"


def test_what_was_made_is_short_and_plain_and_its_links_open():
    text, links = made_of("- [the steps](https://example.com/a.md)\n- `b.md`")
    assert text == "• the steps\n• b.md"
    assert links == (("https://example.com/a.md", "the steps"),)
    assert made_of("patch.diff") == ("patch.diff", ())
    patch = "```diff\n" + "\n".join(f"+ line {number}" for number in range(500)) + "\n```"
    text, _ = made_of(patch)
    assert text.splitlines()[-1] == "+ line 3…"
    assert len(made_of("x" * 10_000)[0]) < 300


def test_who_does_the_steps_is_told_apart_by_letters(words):
    agents = {one: Agent(id=one, name=one.title()) for one in ("architect", "assistant", "browser")}
    states = [StepState(id=one, state="done", assistant_id=one) for one in agents]
    assert [look.letters for look in looks_of(session(*states), agents, {}, words)] == ["Ar", "As", "B"]


def test_the_files_that_a_step_names_can_be_opened(words):
    state = StepState(id="a", state="done", artifacts="notes/a.md, see [b](b.md) and my-c.md.")
    files = ("a.md", "b.md", "c.md", "my-c.md", "notes/a.md", "notes/a.md.txt")
    [look] = looks_of(session(state), {}, {}, words, files)
    assert [address for address, _ in look.links] == ["b.md", "my-c.md", "notes/a.md"]
