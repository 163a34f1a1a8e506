"""Background tasks: one of a name at a time, unless it is added beside the others."""

import asyncio

from app.gui.tasks import Tasks


def test_of_one_name_a_second_is_dropped_and_an_added_one_runs_too():
    async def scene() -> list[str]:
        ran: list[str] = []
        tasks, go_on = Tasks(lambda name, error: None), asyncio.Event()

        async def work(what: str) -> None:
            await go_on.wait()
            ran.append(what)

        tasks.start("save", work("save"))
        tasks.start("save", work("save again"))
        tasks.add("say", work("say"))
        tasks.add("say", work("say again"))
        done = asyncio.Event()
        tasks.when_done(done.set)
        go_on.set()
        await asyncio.wait_for(done.wait(), 60)
        tasks.start("save", work("too late"))
        await asyncio.sleep(0.01)
        return ran

    assert asyncio.run(scene()) == ["save", "say", "say again"]
