"""The pictures of assistants, groups, palette and MCP servers, taken by `tests.screenshots` in each look and size."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.core.definitions import Agent, Group, Leader
from app.core.servers import McpServer
from app.engine.engine import Engine
from app.gui.pages.settings.settings_view import PAGES
from tests.app_driver import Person, until

ARCHITECT = (
    "You design before anyone builds. Name the trade-off, pick one, and say what would change your mind. "
    "Ask the browser agent for facts; never guess a number."
)
AGENTS = (
    Agent(
        id="architect", name="Architect", role="Architect", provider="anthropic", model="claude-opus-4-5",
        description="Weighs a design and names what it costs", instructions=ARCHITECT,
        tools=("web_fetch", "ask", "subAgent"), sub_agents=("browser", "qa"), mcp_servers=("files", "tracker"),
    ),
    Agent(id="backend", name="Backend", provider="openai", model="gpt-5.2", tools=("web", "pages")),
    Agent(id="qa", name="QA", provider="gemini", model="gemini-3-pro", tools=("web_fetch", "web_search")),
    Agent(id="scribe", name="Local scribe", provider="embedded", model="smollm2-135m"),
)  # fmt: skip
GROUPS = (
    Group(
        id="release", name="Release crew", members=("architect", "backend", "qa", "scribe"),
        orchestrator=Leader(provider="anthropic", model="claude-opus-4-5"),
        instructions="Test before you tell anybody.",
    ),
    Group(id="research", name="Research desk", members=("architect", "qa", "browser")),
)  # fmt: skip
SERVERS = (
    McpServer(name="files", command="npx", args=("-y", "@modelcontextprotocol/server-filesystem", "~/notes")),
    McpServer(name="tracker", url="https://tracker.example.org/mcp", headers={"Authorization": "Bearer x"}),
    McpServer(name="mail", command="uvx", args=("mail-server",), disabled=True),
)


async def keep_assistants(engine: Engine) -> None:
    """Save the assistants, groups and servers that the pictures show."""
    for agent in AGENTS:
        await engine.assistants.save(agent)
    await engine.assistants.reorder([agent.id for agent in AGENTS])
    for group in GROUPS:
        await engine.groups.save(group)
    await engine.servers.save(SERVERS)


async def take_assistants(
    person: Person, keep: Callable[[QWidget, Path], Awaitable[None]], path: Callable[[str], Path]
) -> None:
    """Keep a picture of both editors, the ready-made groups, the palette, and every page of the settings.

    `keep` writes the picture of a widget, `path` gives a view's place.
    """
    window = person.window
    commands = window.controller.assistants
    commands.show_page("architect")
    await keep(window, path("assistants"))
    commands.show_page("assistant")
    await keep(window, path("assistant-built-in"))
    window.controller.group_commands.show_page("release")
    await keep(window, path("group"))
    window.controller.group_commands.show_ready()
    await until(lambda: person.sees("ready_groups_dialog"))
    await keep(person.find("ready_groups_dialog"), path("ready-groups"))
    await person.click("ready_cancel")
    await until(lambda: not person.sees("ready_groups_dialog"))
    window.controller.palette.search("as")
    await person.settle(0.5)
    await keep(window, path("palette"))
    window.controller.palette.search()
    for page in PAGES:
        window.controller.settings.open(page)
        await until(lambda: person.sees("settings_page"))
        dialog = person.find("settings_page")
        await keep(dialog, path(f"settings-{page}"))
        if page == "servers":
            await person.click("server_allow")
            await until(lambda: person.sees("consent_dialog"))
            await keep(person.find("consent_dialog"), path("consent"))
            await person.click("consent_refuse")
        person.find("settings_close").click()
        await until(lambda: not person.sees("settings_page"))
