"""`moot agents`: lists external agents, adds, tries and allows one, or withdraws that."""

import shlex

from app.cli.command_run import CommandRun
from app.cli.commands.providers import provider_state
from app.cli.exit_status import FAULT, OK, PAUSED_OR_STOPPED
from app.cli.printing.lines import columns, lines_text, one_line
from app.core.catalog import PROGRAM
from app.core.errors import FailureKind
from app.core.external_agents import RECIPES, recipe_of
from app.core.provider import ProviderConfig, ProviderStatus
from app.core.reasons import failure_text
from app.core.text import exact


async def list_agents(run: CommandRun) -> int:
    """Print the external agents with their state, and the known programs with where they are, without starting any."""
    added = [one for one in run.moot.engine.providers() if one.config.kind == PROGRAM]
    found = await run.moot.engine.connections.found_agents()
    lines = columns(
        (one.config.id, exact(one.label), provider_state(one, run.texts), _command_line(one.config))
        for one in added
    )
    known = [
        run.texts("cli.agents.found", name=one.name, label=one.label, file=exact(found[one.name]))
        if one.name in found
        else run.texts("cli.agents.missing", name=one.name, label=one.label, command=one.install)
        for one in RECIPES
    ]
    records = {
        "added": [_fields(one) for one in added],
        "known": [{"name": one.name, "label": one.label, "file": found.get(one.name)} for one in RECIPES],
    }
    return await run.answer(records, lines_text((*lines, *map(one_line, known))))


async def add_agent(run: CommandRun) -> int:
    """Show exactly what would run, and add it if the user agrees."""
    return await _allow(run, run.moot.engine.connections.agent_draft(run.arguments.name))


async def allow_agent(run: CommandRun) -> int:
    """Show exactly what would run, and allow it if the user agrees."""
    return await _allow(run, run.provider_named(kind=PROGRAM).config)


async def _allow(run: CommandRun, shown: ProviderConfig) -> int:
    words = run.texts
    if not run.arguments.json:
        lines = [words("consent.command"), f"  {_command_line(shown)}", words("agent.truth")]
        if recipe_of(shown.recipe) not in RECIPES:
            lines.append(words("agent.no_recipe"))
        await run.out.write(lines_text(lines))
    if not await run.confirm(words("cli.agents.allow")):
        return PAUSED_OR_STOPPED
    await run.moot.engine.connections.allow_agent(shown)
    [status] = [one for one in run.moot.engine.providers() if one.config.id == shown.id]
    text = words("cli.agents.allowed", name=exact(status.label), id=shown.id)
    return await run.answer(_fields(status), f"{one_line(text)}\n")


async def deny_agent(run: CommandRun) -> int:
    """Withdraw the consent to run an external agent."""
    await run.moot.engine.connections.deny_agent(run.provider_named(kind=PROGRAM).config.id)
    status = run.provider_named(kind=PROGRAM)
    text = run.texts("cli.servers.denied", name=exact(status.label))
    return await run.answer(_fields(status), f"{one_line(text)}\n")


async def check_agent(run: CommandRun) -> int:
    """Start an external agent and open a session, which costs no tokens."""
    status, words = run.provider_named(kind=PROGRAM), run.texts
    result = await run.moot.engine.test_provider(status.config.id)
    if result.ok:
        names = ", ".join(map(exact, result.models)) or exact(result.model) or "–"
        text = words("provider.test.ok", seconds=f"{result.seconds:.1f}", models=names)
    else:
        text = failure_text(result.failure, result.detail, status.config.id, words)
        recipe = recipe_of(status.config.recipe)
        if result.failure == FailureKind.AGENT_LOGIN and recipe.login:
            text += " " + words("cli.agents.login", command=recipe.login)
    record = {**_fields(status), "ok": result.ok, "failure": result.failure, "models": list(result.models)}
    await run.answer(record, f"{one_line(text)}\n")
    return OK if result.ok else FAULT


def _command_line(config: ProviderConfig) -> str:
    return exact(shlex.join([config.command, *config.args]))


def _fields(status: ProviderStatus) -> dict[str, object]:
    config = status.config
    return {
        "id": config.id,
        "label": status.label,
        "line": _command_line(config),
        "recipe": config.recipe,
        "ready": status.ready,
        "problem": status.problem,
    }
