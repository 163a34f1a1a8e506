"""`moot servers`: lists MCP servers, allows one or withdraws that, logs in and out."""

import asyncio
import webbrowser
from typing import Annotated

from app.cli.arguments import Agreed, Typed
from app.cli.command_run import CommandRun
from app.cli.exit_status import PAUSED_OR_STOPPED
from app.cli.printing.lines import columns, lines_text, named_text, one_line
from app.core.errors import BadInput, NotFound
from app.core.servers import shown_line, shown_values
from app.core.texts import Texts, exact, visible
from app.core.tool import ServerState, ServerStatus, changed_tools
from app.engine.export.event_lines import fields_of

Name = Annotated[str, Typed(text="servers.name", metavar="NAME")]


async def servers_list(run: CommandRun) -> int:
    """Print every MCP server with its state, without starting any."""
    statuses = run.moot.engine.servers.all()
    rows = columns(
        (exact(status.server.name), _state_text(status, run.texts), exact(shown_line(status.server)))
        for status in statuses
    )
    lines = []
    for status, row in zip(statuses, rows, strict=True):
        lines += [row, *(f"  {said}" for said in _tool_lines(status, run.texts))]
    lines = lines or [run.texts("cli.servers.none")]
    return await run.answer([_fields(run, status) for status in statuses], lines_text(lines))


async def servers_allow(run: CommandRun, name: Name, yes: Agreed = False) -> int:
    """Show exactly what would run, and allow it if the user agrees."""
    engine = run.moot.engine
    # A server that was allowed before may have changed its tools, which is seen once it is connected.
    await engine.servers.attach((_status(run, name).server.name,))
    shown = _status(run, name)
    if not run.arguments.json:
        await run.out.write(_description(shown, run.texts))
    if not await run.confirm(run.texts("cli.servers.allow"), yes=yes):
        return PAUSED_OR_STOPPED
    await engine.servers.allow(shown)
    allowed = _status(run, name)
    lines = [run.texts("cli.servers.allowed", name=one_line(name)), *_tool_lines(allowed, run.texts)]
    status = await run.answer(_fields(run, allowed), lines_text(lines))
    if allowed.state == ServerState.DOWN and not run.arguments.json:
        await run.out.complain(_trouble(run, allowed))
    return status


async def servers_deny(run: CommandRun, name: Name) -> int:
    """Withdraw the consent to a server, which ends it if it runs."""
    await run.moot.engine.servers.deny(_status(run, name).server.name)
    return await _report(run, name, "cli.servers.denied")


async def servers_login(
    run: CommandRun,
    name: Name,
    yes: Agreed = False,
    client_id: Annotated[str, Typed("--client-id", metavar="ID")] = "",
) -> int:
    """Log in to a server: show the address of its page, open that in the browser if the user agrees, and wait."""
    unasked = []

    async def agree(url: str) -> bool:
        await run.out.complain(run.texts("cli.servers.login_page", name=one_line(name), url=exact(url)))
        try:
            agreed = await run.confirm(run.texts("cli.servers.login"), yes=yes)
        except BadInput as error:
            # The login that asked ends first.
            unasked.append(error)
            return False
        if agreed:
            await asyncio.to_thread(webbrowser.open, url)
        return agreed

    secret = None
    if client_id and not run.arguments.json:
        secret = await run.ask(run.texts("cli.servers.client_secret"), secret=True)
    work = run.moot.engine.servers.login(name, agree, client_id, secret or "")
    await run.unless_interrupted(work)
    if unasked:
        raise unasked[0]
    status = _status(run, name)
    if status.state not in (ServerState.CONNECTED, ServerState.ASKING):
        await run.out.complain(_trouble(run, status))
        return PAUSED_OR_STOPPED
    return await _report(run, name, "cli.servers.logged_in")


async def servers_log(run: CommandRun, name: Name) -> int:
    """Print the last lines of a server's log."""
    name = _status(run, name).server.name
    text = visible(await run.moot.engine.servers.log(name))
    return await run.answer({"name": name, "log": text}, text or f"{run.texts('cli.servers.no_log')}\n")


async def servers_logout(run: CommandRun, name: Name) -> int:
    """Forget the login to a server."""
    await run.moot.engine.servers.logout(_status(run, name).server.name)
    return await _report(run, name, "cli.servers.logged_out")


async def _report(run: CommandRun, name: str, text: str) -> int:
    said = run.texts(text, name=one_line(name))
    return await run.answer(_fields(run, _status(run, name)), f"{said}\n")


def _status(run: CommandRun, name: str) -> ServerStatus:
    """Return the server of that name. Raises NotFound."""
    for status in run.moot.engine.servers.all():
        if status.server.name == name:
            return status
    raise NotFound("mcp_server_not_found", name=name)


def _state(status: ServerStatus) -> str:
    return "ready" if status.state == ServerState.OFF and not status.server.disabled else status.state


def _state_text(status: ServerStatus, texts: Texts) -> str:
    return named_text(texts, "server.state", _state(status))


def _tool_lines(status: ServerStatus, texts: Texts) -> list[str]:
    """Return what is known of a server's tools, a line for each thing that is said of some."""
    return [
        texts(f"server.{code}", tools=one_line(", ".join(map(exact, tools))))
        for code, tools in status.said_of_tools
    ]


def _trouble(run: CommandRun, status: ServerStatus) -> str:
    said = named_text(run.texts, "problem", status.problem) if status.problem else ""
    return run.moot.secrets.redact(one_line(f"{said} {status.detail}"))


def _description(status: ServerStatus, texts: Texts) -> str:
    """Return exactly what would be run or connected to; of secrets only the names."""
    server, lines = status.server, []
    lines.append(texts("consent.url" if server.url else "consent.command"))
    lines.append(f"  {exact(shown_line(server))}")
    if server.cwd:
        lines.append(f"{texts('server.folder')}: {exact(server.cwd)}")
    shown, hidden = shown_values(server)
    if shown:
        lines.append(texts("consent.values"))
        lines += [f"  {exact(f'{name}={value}')}" for name, value in shown.items()]
    if hidden:
        lines.append(f"{texts('consent.variables')}: {', '.join(map(exact, hidden))}")
    if status.changed:
        lines.append(texts("consent.changed"))
        lines += [f"  {line}" for line in changed_tools(status, texts)]
    return lines_text(lines)


def _fields(run: CommandRun, status: ServerStatus) -> dict[str, object]:
    server = status.server
    shown, hidden = shown_values(server)
    return {
        "name": server.name,
        "state": _state(status),
        "line": run.moot.secrets.redact(shown_line(server)),
        "folder": server.cwd,
        "variables": shown,
        "secret_variables": list(hidden),
        "tools": list(status.tools) if status.state == ServerState.CONNECTED else [],
        **fields_of(status, "changed", "changes", "reading", "deleting", "outside", "withheld"),
        **fields_of(status, "problem", "detail"),
    }
