"""What it costs to say who is free, and what a workflow does next, as the work grows."""

import asyncio
import gc
import time
from collections import deque
from collections.abc import Callable
from statistics import median

from app.core.definitions import Busy, StepState, StepStatus, WorkflowDefinition, WorkflowStep
from app.engine.availability import Availability, Started, Strategy, Task
from app.engine.workflow.director import begun, settled, with_step
from tests.benchmarks.table import Benchmark, Result

ASSISTANTS = 100


def _through_the_core(count: int) -> None:
    """Send tasks to 100 assistants that take two at once, and let each end when it has run."""
    core = Availability(lambda _: Busy(strategy=Strategy.PARALLEL, limit=2, depth=count), lambda _: 50)
    running: deque[str] = deque()
    for number in range(count):
        task = Task(id=str(number), agent_id=str(number % ASSISTANTS), provider=str(number % 7))
        running += [one.task.id for one in core.enqueue(task, 0.0) if isinstance(one, Started)]
    ended = 0
    while running:
        running += [one.task.id for one in core.finish(running.popleft(), 0.0) if isinstance(one, Started)]
        core.next_moment()
        ended += 1
    assert ended == count


async def _empty_tasks(count: int) -> None:
    async def nothing() -> None:
        pass

    for _ in range(count):
        await asyncio.create_task(nothing())


def _seconds(work: Callable[[], object]) -> float:
    # As timeit does: what the collector does with the rest of the process is not measured.
    gc.collect()
    gc.disable()
    begun_at = time.perf_counter()
    try:
        work()
        return time.perf_counter() - begun_at
    finally:
        gc.enable()


def _compared(measured: Callable[[], float], baseline: Callable[[], float], rounds: int, unit: str) -> Result:
    factor = {"ms": 1e3, "µs": 1e6}[unit]
    pairs = [(measured(), baseline()) for _ in range(rounds)]
    return Result(
        measured=median(pair[0] for pair in pairs) * factor,
        baseline=median(pair[1] for pair in pairs) * factor,
        unit=unit,
        ratio=median(pair[0] / pair[1] for pair in pairs),
    )


def ten_thousand_tasks(short: bool) -> Result:
    """Compare 10,000 tasks over 100 assistants with 1,000."""
    return _compared(
        lambda: _seconds(lambda: _through_the_core(10_000)),
        lambda: _seconds(lambda: _through_the_core(1_000)),
        3 if short else 9,
        "ms",
    )


def one_task(short: bool) -> Result:
    """Compare a task through the core with an empty asyncio task."""
    return _compared(
        lambda: _seconds(lambda: _through_the_core(10_000)) / 10_000,
        lambda: _seconds(lambda: asyncio.run(_empty_tasks(10_000))) / 10_000,
        3 if short else 9,
        "µs",
    )


def _layers(count: int) -> WorkflowDefinition:
    """Return a graph in layers of ten, each step after two of the layer before."""
    steps = []
    for number in range(count):
        before = (number - 10 - number % 10 + other % 10 for other in (number, number + 3))
        after = tuple(f"s{one}" for one in before) if number >= 10 else ()
        steps.append(WorkflowStep(id=f"s{number}", name="s", role="qa", prompt="", depends_on=after))
    return WorkflowDefinition(id="g", name="g", steps=tuple(steps))


def _decided(definition: WorkflowDefinition) -> Callable[[], float]:
    """Return what measures one decision in the middle of a graph, a step's end included."""
    half = len(definition.steps) // 2
    states = settled(
        definition,
        tuple(
            StepState(id=one.id, state=StepStatus.DONE if place < half else "pending")
            for place, one in enumerate(definition.steps)
        ),
    )
    assert len(begun(definition)) == len(states)
    end = StepState(id=definition.steps[half].id, state=StepStatus.DONE)
    return lambda: _seconds(lambda: [with_step(definition, states, end) for _ in range(5)]) / 5


def deciding(short: bool) -> Result:
    """Compare what follows of a step's end in a graph of 1,000 steps with one of 100."""
    return _compared(_decided(_layers(1_000)), _decided(_layers(100)), 20 if short else 100, "ms")


BENCHMARKS = (
    Benchmark(
        name="10,000 tasks over 100 assistants through the availability core, against 1,000",
        target=12.0,
        run=ten_thousand_tasks,
    ),
    Benchmark(
        name="a task through the availability core, against an empty asyncio task", target=30.0, run=one_task
    ),
    Benchmark(
        name="deciding what a workflow of 1,000 steps does next, against one of 100",
        target=12.0,
        run=deciding,
    ),
)
