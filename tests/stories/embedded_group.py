"""A group of two on the built-in model, guided by Moot: how many runs end with a plan all ticked and a report.

Run as `python -m tests.stories.embedded_group [RUNS]`; with `ready` each group that comes with Moot, once.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL
from app.core.definitions import Agent, Group, Leader
from app.core.session import Status
from app.engine.live_session import LiveSession
from app.wiring import Moot, open_moot
from tests.stories.embedded_tree import TASKS, tell, write_crew

READY = Path(__file__).parents[2] / "resources" / "groups"


def crew() -> tuple[Agent, ...]:
    """Return two members."""
    model = {"provider": EMBEDDED, "model": EMBEDDED_MODEL}
    return (
        Agent(id="ada", name="Ada", role="Researcher", **model),
        Agent(id="ben", name="Ben", role="Writer", instructions="Write short and plain.", **model),
    )


async def make_group(moot: Moot) -> str:
    """Save the group of two and return its id."""
    group = Group(
        id="",
        name="Duo",
        members=tuple(one.id for one in crew()),
        orchestrator=Leader(provider=EMBEDDED, model=EMBEDDED_MODEL),
    )
    return (await moot.engine.groups.save(group)).id


async def run_group(moot: Moot, group_id: str, task: str) -> tuple[str, str]:
    """Give a group its task and let it work; return what is wrong with the end ("" nothing), and the session."""
    engine = moot.engine
    session_id = await engine.groups.start(group_id, task)
    session = await engine.wait(session_id)
    live = await engine.open(session_id)
    return session.status if session.status != Status.IDLE else what_is_wrong(live), session_id


def what_is_wrong(live: LiveSession) -> str:
    """Return why the work did not come to its end: a plan of two steps or more all ticked, and a report."""
    plan = live.session.plan
    if plan is None or len(plan.items) < 2:
        return "no plan of two steps"
    if plan.open:
        return f"{len(plan.open)} steps are open"
    refused = [one for one in live.messages if one.state == "failed"]
    if refused:
        return f"failed: {refused[0].author.name} {refused[0].error or refused[0].content[:100]}"
    members = {one.author.id for one in live.messages if one.author.kind == "main" and one.content}
    if not members:
        return "nobody of the group spoke"
    last = live.messages[-1]
    if last.author.kind != "orchestrator" or len(last.content.split()) < 5:
        return "no report"
    return ""


async def main(runs: int) -> None:
    """Run the group some times, or each ready one once, and print what happened."""
    with tempfile.TemporaryDirectory() as folder:
        write_crew(Path(folder), crew())
        moot = await open_moot(Path(folder))
        try:
            await moot.engine.look_for_servers()
            duo = await make_group(moot)
            jobs = [(duo, TASKS[number % len(TASKS)]) for number in range(runs)]
            if not runs:
                jobs = [(await bring_in(moot, path), TASKS[0]) for path in sorted(READY.glob("*.json"))]
            ended = 0
            for number, (group_id, task) in enumerate(jobs, 1):
                begun = time.monotonic()
                wrong, session_id = await run_group(moot, group_id, task)
                ended += not wrong
                print(
                    f"run {number} ({group_id}): {wrong or 'ended'}, {time.monotonic() - begun:.1f} s",
                    flush=True,
                )
                if wrong or number == len(jobs):
                    tell(moot, session_id)
            print(f"{ended} of {len(jobs)} ended")
        finally:
            await moot.close()


async def bring_in(moot: Moot, path: Path) -> str:
    """Bring a ready-made group in and return its id."""
    groups = moot.engine.groups
    return (await groups.bring_in(groups.read_shared(path.read_text(encoding="utf-8")))).id


if __name__ == "__main__":
    asyncio.run(main(0 if "ready" in sys.argv else int(sys.argv[1]) if len(sys.argv) > 1 else 10))
