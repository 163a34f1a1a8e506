"""Before the first message to a group it is said what it may cost at most."""

from app.core.definitions import Agent, Group
from app.core.provider import Price
from tests.app_driver import at_window, until
from tests.gui.models import give_prices


async def test_the_first_page_says_of_a_group_what_a_message_may_cost(qapp, data_dir, monkeypatch):
    async with at_window(data_dir) as person:
        desk = person.window.controller
        engine = desk.engine

        async def price(provider: str, model: str) -> Price | None:
            return Price(read=0.000002, written=0.00001) if provider == "openai" else Price()

        give_prices(monkeypatch, engine, price)
        for name in ("Ann", "Bob"):
            await engine.assistants.save(Agent(id=name.lower(), name=name, provider="openai", model="gpt-x"))
        for group_id, limit in (("small", 2), ("large", 20)):
            group = Group(id=group_id, name=group_id, members=("ann", "bob"), turns_limit=limit)
            await engine.groups.save(group)
        desk.show_new(group_id="small")
        await until(lambda: person.hint().startswith("up to ") and "$" in person.hint())
        small = person.hint()
        assert person.find("work_with").accessibleName() == "small"
        desk.show_new(group_id="large")
        await until(lambda: person.find("work_with").accessibleName() == "large" and "$" in person.hint())
        assert person.hint() != small
        desk.show_new("ann")
        await until(lambda: person.find("assistant_button").text() == "Ann")
        assert "tokens" not in person.hint()
