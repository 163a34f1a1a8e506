"""Before the first message to a group it is said what it may cost at most."""

from app.core.agent import Agent, Group
from app.core.usage import Price
from tests.app_driver import at_window, until


async def test_the_empty_page_of_a_group_says_what_a_message_may_cost(qapp, data_dir, monkeypatch):
    async with at_window(data_dir) as person:
        desk = person.window.controller
        engine = desk.engine

        async def price(provider: str, model: str) -> Price | None:
            return Price(input_usd=0.000002, output_usd=0.00001) if provider == "openai" else Price()

        monkeypatch.setattr(engine.estimates._models, "price", price)
        for name in ("Ann", "Bob"):
            await engine.assistants.save(Agent(id=name.lower(), name=name, provider="openai", model="gpt-x"))
        for group_id, limit in (("small", 2), ("large", 20)):
            group = Group(id=group_id, name=group_id, members=("ann", "bob"), turns_limit=limit)
            await engine.groups.save(group)
        empty = desk.chat_page._empty
        desk.show_new(group_id="small")
        await until(lambda: "One message can use up to about" in empty.text() and "$" in empty.text())
        small = empty.text()
        assert small.startswith("Give small a task.")
        desk.show_new(group_id="large")
        await until(lambda: empty.text().startswith("Give large a task.") and "$" in empty.text())
        assert empty.text() != small.replace("small", "large")
        desk.show_new("ann")
        await until(lambda: "Ann" in empty.text())
        assert "tokens" not in empty.text()
