"""A Hypothesis machine that plays user, models, clock, settings and crashes against the real engine.

It knows the invariants D1 to D13 of a debate and keeps a simple picture of its own of whose turn it is.
Used by test_debate_machine, with the engine as it is and with seeded faults.
"""

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from app.core.council import Participant
from app.core.errors import ProviderError
from app.core.events import Event, MessageFinished, SessionChanged
from app.core.message import Message, MessageState, Usage
from app.core.provider import Delta, Finished, Text
from app.core.session import ENDED, DebateSession, Status
from app.engine.debate.director import PARTICIPANT
from app.engine.debate.modes import next_speaker
from tests.builders import people
from tests.engine.debate_world import DebateWorld
from tests.engine.gated_models import Call
from tests.engine.request_rules import check_request
from tests.memory import MemoryStore


class DebateMachine(DebateWorld):
    """Everything that can happen to a debate, in any order."""

    @initialize(
        mode=st.sampled_from(["round-robin", "free"]),
        count=st.integers(2, 4),
        rounds=st.sampled_from([1, 3, 9, 9]),
        blind=st.booleans(),
    )
    def start(self, mode: str, count: int, rounds: int, blind: bool) -> None:
        self.people: tuple[Participant, ...] = people(count)
        self.absent: set[str] = set()
        self.left: set[str] = set()
        self.skipped_due: set[str] = set()
        self.ever_absent: set[str] = set()
        self._open_engine()
        from app.engine.engine import DebateSetup

        setup = DebateSetup(
            topic="Cars?",
            participants=self.people,
            mode=mode,
            rounds=rounds,
            seed=7,
            independent_opening=blind,
        )
        self.session_id = self.run(self.engine.debates.start(setup))
        self.settle()
        self._look_at_calls()

    def send(self, *items: Delta | Exception) -> None:
        call = self.call
        assert call is not None
        for item in items:
            call.items.put_nowait(item)
            if isinstance(item, Text):
                call.sent += item.text
        before = len(self.taken())
        self.settle()
        if len(self.taken()) > before:
            ids = {one.retakes for one in self.taken()}
            self.due = [one for one in self.due if one.id not in ids]
            self.asked_in_turn = 0
            self.held_turn = None
        if self.session.status != Status.RUNNING:
            self.pausing = False
        self._look_at_calls()

    def _look_at_calls(self) -> None:
        """Check every call that was opened since the last look."""
        for call in self.models.calls[self.known_calls :]:
            if self.speaking != call.request.provider:
                self.asked_in_turn = 0
            self.speaking = call.request.provider
            self.asked_in_turn += 1
            self._check_call(call)
        self.known_calls = len(self.models.calls)

    def _check_call(self, call: Call) -> None:
        speaker = next(one for one in self.people if one.provider == call.request.provider)
        debate = self.session.debate
        assert speaker.id not in self.absent, "D7: a switched-off provider was called"
        enough = len(self.people) - len(self.absent) >= 2
        assert enough or self.asked_in_turn > 1, "D7: fewer than two are left and it went on"
        assert not self.pausing or self.asked_in_turn > 1, "D9: a turn started after a pause was asked for"
        assert self.asked_in_turn <= 2, "D6: more than one retry in a turn"
        place = (debate.round, debate.turn)
        if self.held_turn is not None:
            assert place == self.held_turn, "D6: a held turn was not taken again"
        turns = self.taken()
        recent = [one.state for one in turns[self.resumed_at :]][-2:]
        assert recent != [MessageState.FAILED, MessageState.FAILED], (
            "D5: two failures in a row and it went on"
        )
        present = tuple(one for one in self.people if one.id not in self.absent)
        due = [one for one in self.due if one.author.id not in self.absent]
        if due:
            assert speaker.id == due[0].author.id, (
                "D5: a failed turn that led to the pause was not taken again"
            )
        elif self.asked_in_turn > 1:
            # The second call of a turn is its speaker's, whatever was said or switched on after the first.
            pass
        elif debate.mode == "free":
            self._check_free_speaker(speaker, present)
        else:
            assert speaker == self._expected(), "D3: out of order"
        check_request(call.request, speaker, self.messages, debate, window=self._window())

    def _check_free_speaker(self, speaker: Participant, present: tuple[Participant, ...]) -> None:
        settled = [one for one in self.messages if one.ended]
        named, why = next_speaker(self.session.debate, present, settled)
        assert speaker == named, "D3: not the speaker the rule names"
        if (turns := self.taken()) and turns[-1].author.id == speaker.id:
            assert why == "asked_by_user", "spoke twice in a row"

    def _window(self) -> int:
        """How many messages the last request may hold: fewer where the one before it was too long."""
        calls = self.models.calls
        again = self.asked_in_turn == 2 and calls[-2].too_long
        return 7 if again else 15

    def _expected(self) -> Participant:
        """Whose turn it is by the picture of our own: the first seat after the last one that spoke."""
        seats = [one.id for one in self.people]
        turns = self.turns()
        start = seats.index(turns[-1].author.id) + 1 if turns else 0
        around = [*range(start, len(seats)), *range(start)]
        return self.people[next(place for place in around if seats[place] not in self.absent)]

    # What models do

    def _words(self) -> str:
        return f"Statement number {len(self.models.calls)} of {len(self.store.batches)} batches"

    @precondition(lambda self: self.is_open())
    @rule(whom=st.sampled_from([None, 0, 1, 2, 3]), times=st.sampled_from([1, 1, 2, 9]))
    def answer(self, whom: int | None, times: int) -> None:
        name = f" {self.people[whom % len(self.people)].name}, what do you say?" if whom is not None else ""
        for _ in range(times):
            if self.is_open():
                self.send(Text(text=self._words() + "." + name), Finished(usage=Usage(output_tokens=3)))

    @precondition(lambda self: self.is_open())
    @rule()
    def say_a_part(self) -> None:
        self.send(Text(text=self._words() + " and more "))

    @precondition(lambda self: self.is_open())
    @rule(
        kind=st.sampled_from(["bad_request", "network", "stall", "authentication", "bad_response"]),
        times=st.sampled_from([1, 2]),
    )
    def fail(self, kind: str, times: int) -> None:
        for _ in range(times):
            if call := self.call:
                self.send(ProviderError(kind))
                self._check_failed(call)

    def _check_failed(self, call: Call) -> None:
        kept = self.taken()[-1]
        assert (kept.state, kept.content.strip()) == (MessageState.FAILED, call.sent.strip()), (
            "D11: a failure's text lost"
        )

    @precondition(lambda self: self.is_open())
    @rule()
    def fail_before_and_after_a_success(self) -> None:
        for reply in (ProviderError("bad_request"), Text(text=self._words()), ProviderError("bad_request")):
            if self.is_open():
                self.send(reply, *([Finished()] if isinstance(reply, Text) else []))

    @precondition(lambda self: self.is_open())
    @rule(kind=st.sampled_from(["empty", "context_window"]))
    def fail_in_a_way_that_is_tried_again(self, kind: str) -> None:
        call = self.call
        assert call is not None
        call.too_long = kind == "context_window"
        self.send(Finished() if kind == "empty" else ProviderError(kind))

    @precondition(lambda self: self.is_open() and self.session.debate.mode == "free")
    @rule()
    def pass_the_turn(self) -> None:
        self.send(Text(text="[PASS]"), Finished())

    @precondition(lambda self: self.is_open())
    @rule(retry_after=st.sampled_from([None, 3.0, 50.0, 500.0]), quota=st.booleans(), times=st.integers(1, 3))
    def refuse(self, retry_after: float | None, quota: bool, times: int) -> None:
        self._refuse(retry_after, quota)
        for _ in range(times - 1):
            if self.timer is not None:
                self.time_passes()
            if self.is_open():
                self._refuse(retry_after, quota)

    def _refuse(self, retry_after: float | None, quota: bool) -> None:
        call, waits = self.call, len(self.retry_waits)
        assert call is not None
        before, turns = (self.session.debate.round, self.session.debate.turn), len(self.taken())
        self.send(ProviderError("quota" if quota else "rate_limit", retry_after=retry_after))
        if call.sent.strip():
            assert len(self.taken()) == turns + 1, "a failure after text was not kept"
            self._check_failed(call)
            return
        if len(self.retry_waits) > waits:
            assert self.asked_in_turn == 1, "D6: waits to ask for the third time"
            assert not quota, "D6: quota was tried again"
            assert self.retry_waits[-1] >= max(10.0, retry_after or 0.0), "D6: waited too little"
            assert self.retry_waits[-1] <= 120.0, "a wait nobody would sit through"
        elif len(self.taken()) == turns:
            assert self.session.status == Status.PAUSED, "D6: held up, but not paused"
            self.held_turn, self.asked_in_turn = before, 0

    @precondition(lambda self: self.timer is not None)
    @rule()
    def time_passes(self) -> None:
        assert self.timer is not None
        self.timer.set()
        self.settle()
        self._look_at_calls()

    # What the user does

    def _act(self, coroutine: object) -> None:
        self.run(coroutine)
        self.settle()
        self._look_at_calls()

    @rule(times=st.integers(1, 2))
    def pause(self, times: int) -> None:
        for _ in range(times):
            self._pause()

    def _pause(self) -> None:
        running = self.session.status == Status.RUNNING
        at_once = self.pausing or self.timer is not None
        streaming = [one for one in self.messages if one.state == MessageState.STREAMING]
        self.pausing = running
        self._act(self.engine.pause(self.session_id))
        if running and at_once:
            assert self.session.status == Status.PAUSED and not self.models.open, "not paused at once"
            self._check_kept(streaming)
        if self.session.status != Status.RUNNING:
            self.pausing, self.asked_in_turn = False, 0

    @precondition(lambda self: self.session.status in (Status.PAUSED, Status.RUNNING))
    @rule()
    def resume(self) -> None:
        if self.session.status == Status.PAUSED:
            self._let_go_on()
        self.pausing = False
        self._act(self.engine.resume(self.session_id))
        assert self.session.status != Status.PAUSED, "resumed, and paused at once"

    def _let_go_on(self) -> None:
        """Take note that the debate is about to go on, and with which turns."""
        if self.session.debate.failures >= 2:
            self.due = self.taken()[-2:] + self.due
        self.resumed_at, self.asked_in_turn = len(self.taken()), 0
        self.pausing = False

    @precondition(lambda self: self.session.status == Status.PAUSED or self.timer is not None)
    @rule()
    def retry_the_turn(self) -> None:
        self._let_go_on()
        self._act(self.engine.debates.held.retry(self.session_id))
        assert self.session.status != Status.PAUSED and self.timer is None, "the turn was not tried at once"

    @precondition(lambda self: self.session.status == Status.PAUSED or self.timer is not None)
    @rule()
    def skip_the_turn(self) -> None:
        failed = self.session.debate.failures >= 2
        due = next((one for one in self.due if one.author.id not in self.absent), None)
        taken = len(self.taken())
        if not failed:
            self.due = [one for one in self.due if one is not due]
            self.skipped_due |= {due.id} if due is not None else set()
        self.resumed_at, self.asked_in_turn, self.held_turn = taken + (not failed and due is None), 0, None
        self.pausing = False
        self._act(self.engine.debates.held.skip(self.session_id))
        self.resumed_at = len(self.taken())
        assert self.session.status != Status.PAUSED, "it did not go on behind the turn"

    @precondition(lambda self: self.session.status == Status.PAUSED or self.timer is not None)
    @rule(place=st.integers(0, 3))
    def leave_out(self, place: int) -> None:
        one = self.people[place % len(self.people)]
        if one.id in self.left or len({one.id for one in self.people} - self.absent - {one.id}) < 2:
            return
        self._let_go_on()
        self.held_turn = None
        for kept in (self.left, self.absent, self.ever_absent):
            kept.add(one.id)
        self._act(self.engine.debates.held.go_on_without(self.session_id, one.id))
        assert self.session.status != Status.PAUSED, "it did not go on without them"

    @precondition(lambda self: len(self.store.batches) > 12)
    @rule()
    def stop(self) -> None:
        streaming = [one for one in self.messages if one.state == MessageState.STREAMING]
        ended = self.session.status in ENDED
        self._act(self.engine.stop(self.session_id))
        assert not self.models.open, "D11: stopped, but the request is open"
        if not ended:
            assert self.session.status == "stopped"
        self._check_kept(streaming)
        self.pausing = False

    def _check_kept(self, streaming: list[Message]) -> None:
        for one in streaming:
            kept = self.live.turns.messages[one.id]  # type: ignore[attr-defined]
            assert kept.state == MessageState.STOPPED and kept.content.strip() == one.content.strip(), (
                "D11: text lost"
            )

    @rule(count=st.sampled_from([1, 1, 1, 7]))
    def step_in(self, count: int) -> None:
        for _ in range(count):
            if self.session.status in ENDED or self.engine.debates.is_over(self.live):  # type: ignore[arg-type]
                # It would begin a what-if round.
                return
            text = f"Word {len(self.said)} of the user."
            self.run(self.engine.debates.say(self.session_id, text))
            self.said.append(text)

    @rule(place=st.integers(0, 3), on=st.booleans())
    def switch(self, place: int, on: bool) -> None:
        one = self.people[place % len(self.people)]
        if one.id in self.left:
            return
        (self.absent.discard if on else self.absent.add)(one.id)
        if not on:
            self.ever_absent.add(one.id)
        self.documents.switch(one.provider, on=on)

    @rule()
    def crash(self) -> None:
        """The process dies: what was not saved is gone, nobody says goodbye."""
        was = self.session.status
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        batches = list(self.store.batches)
        self.settle()
        self.store = MemoryStore()
        self.store.batches = batches
        self.timer, self.pausing, self.asked_in_turn = None, False, 0
        self._open_engine()
        self.run(self.engine.open(self.session_id))
        assert self.session.status == (Status.PAUSED if was == Status.RUNNING else was), "D10"
        for message in self.history:
            assert self.live.turns.messages[message.id] == message, "a finished message was lost"  # type: ignore[attr-defined]

    # What always holds

    @invariant()
    def one_call_and_only_while_running(self) -> None:
        assert len(self.models.open) <= 1, "D1: two calls at once"
        running = self.session.status == Status.RUNNING
        assert running or not (self.models.open or self.timer), "D1: a call while it does not run"
        assert not running or self.models.open or self.timer, "D1b: it runs, but nothing happens"

    @invariant()
    def the_record_only_grows(self) -> None:
        ids = [one.id for one in self.messages]
        assert len(set(ids)) == len(ids), "D2: an id twice"
        finished = [one for one in self.messages if one.state != MessageState.STREAMING]
        assert ids[: len(self.ids)] == self.ids, "D2: the order changed"
        self.ids = ids
        assert all(one in finished for one in self.history), "D2: what was finished changed"
        if self.frozen is not None:
            assert finished == self.frozen, "D2: it grew after the end"
        self.history = finished
        if self.session.status in ENDED:
            assert len(finished) == len(self.messages), "D2: something streams after the end"

    @invariant()
    def turns_are_neither_skipped_nor_doubled(self) -> None:
        debate, turns = self.session.debate, self.turns()
        assert debate.round <= debate.rounds + 1, "D4"
        assert all(one.round <= debate.rounds for one in turns), "D4"
        if debate.mode == "round-robin":
            places = [(one.round, [p.id for p in self.people].index(one.author.id)) for one in turns]
            assert places == sorted(set(places)), "D3: a turn twice or out of order"
            always = [one.id for one in self.people if one.id not in self.ever_absent]
            done = debate.rounds if self.session.reason.startswith("rounds_done") else debate.round - 1
            for round_number in range(1, done + 1):
                spoken = [one.author.id for one in turns if one.round == round_number]
                assert set(always) <= set(spoken), "D4: somebody was skipped"
        elif not self.ever_absent:
            size = len(self.people)
            expected = [1 + place // size for place in range(len(turns))]
            assert [one.round for one in turns] == expected, "D4: a round of the wrong size"

    @invariant()
    def the_user_is_heard_once(self) -> None:
        assert [one.content for one in self.messages if one.author.kind == "user"] == self.said, "D12"

    @invariant()
    def failures_pause(self) -> None:
        recent = [one.state for one in self.taken()[self.resumed_at :]]
        if self.session.reason == "two_failures":
            assert self.session.status == Status.PAUSED and recent[-2:] == [
                MessageState.FAILED,
                MessageState.FAILED,
            ], "D5: paused for nothing"
        if self.session.reason == "too_few" and self.frozen is None:
            assert len(self.people) - len(self.absent) < 2, "D7: ended although two are left"

        if self.session.status in ENDED:
            self.frozen = self.frozen or [one for one in self.messages if one.state != MessageState.STREAMING]

    @invariant()
    def message_and_cursor_are_one_line(self) -> None:
        place: tuple[int, int] = (1, 0)
        due: tuple[str, ...] = ()
        for batch in self.store.batches:
            ended = [one for one in batch if isinstance(one, MessageFinished) and self._is_turn(one)]
            changed = [one for one in batch if isinstance(one, SessionChanged)]
            for event in changed:
                assert isinstance(event.session, DebateSession)
                debate = event.session.debate
                now = (debate.round, debate.turn)
                taken = set(due) - set(debate.due)
                moved = now > place or bool(taken)
                # A failed turn that is skipped keeps its message: nothing new is written for it.
                skipped = now == place and not ended and taken <= self.skipped_due
                assert moved == bool(ended) or skipped, "D13: the cursor moved without its message"
                assert now >= place, "D3: the cursor went back"
                place, due = now, debate.due
            assert len(ended) <= 1 and (not ended or len(changed) == 1), "D13: a turn without its cursor"

    @staticmethod
    def _is_turn(event: Event) -> bool:
        assert isinstance(event, MessageFinished)
        return event.message.author.kind == PARTICIPANT and event.message.state in (
            MessageState.DONE,
            MessageState.FAILED,
        )
