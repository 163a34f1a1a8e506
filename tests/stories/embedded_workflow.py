"""bug-fix on the built-in model, guided by Moot: how many runs reach their end, how long they take.

Run as `python -m tests.stories.embedded_workflow [RUNS]`; nobody has a role, so somebody is made for each.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from app.core.definitions import StepStatus
from app.core.message import MessageState, Role
from app.core.session import Status, WorkflowSession
from app.wiring import Moot, open_moot
from tests.stories.embedded_tree import tell

COMMANDS = (
    "Fix the login loop",
    "The shop's search is broken: it finds nothing for words in capitals",
    "Fix the crash when a photo is rotated twice",
    "There is a bug: the total of the bill is one cent too low",
    "Fix the error when the password holds a space",
)


async def run_bug_fix(moot: Moot, command: str) -> tuple[bool, str, str]:
    """Classify a command and run it; return whether every step was done by words of its own, how it stands
    and the session.
    """
    engine = moot.engine
    definition = await engine.workflows.classify(command)
    if definition is None or definition.id != "bug-fix":
        return False, "classified otherwise", ""
    session_id = await engine.workflows.start(command, definition.id)
    await engine.wait(session_id)
    live = await engine.open(session_id)
    session = live.session
    assert isinstance(session, WorkflowSession)
    said = [
        one
        for one in live.messages
        if one.role == Role.ASSISTANT
        and one.parent_turn_id
        and one.state == MessageState.DONE
        and one.content.strip()
    ]
    steps = session.workflow.steps
    ended = (
        session.status == Status.COMPLETED
        and all(one.state == StepStatus.DONE and one.result.strip() for one in steps)
        and {one.turn_id for one in said}
        >= {
            live.turns.child_turn(call.turn_id, made.id)
            for call in live.messages
            for made in call.tool_calls
            if made.name == "step"
        }
    )
    return ended, ", ".join(f"{one.id} {one.state} {one.reason}".strip() for one in steps), session_id


async def main(runs: int) -> None:
    """Run bug-fix some times and print what happened."""
    with tempfile.TemporaryDirectory() as folder:
        moot = await open_moot(Path(folder))
        try:
            await moot.engine.look_for_servers()
            finished, session_id = 0, ""
            for number in range(runs):
                begun = time.monotonic()
                done, how, session_id = await run_bug_fix(moot, COMMANDS[number % len(COMMANDS)])
                finished += done
                word = "reached its end" if done else "did not reach its end"
                print(f"run {number + 1}: {word}, {time.monotonic() - begun:.1f} s ({how})", flush=True)
            print(f"{finished} of {runs} reached their end")
            tell(moot, session_id)
        finally:
            await moot.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
