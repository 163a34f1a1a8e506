"""`moot servers`: lists MCP servers, allows one or stops allowing it; used by commands."""

from app.cli.asking import confirmed
from app.cli.exit_status import OK, PAUSED_OR_STOPPED
from app.cli.follow import Call
from app.cli.printing.output import json_line, named_text, one_line
from app.core.errors import NotFound
from app.core.server_secrets import shown_line, shown_values
from app.core.text import exact
from app.core.texts import Texts
from app.core.tool import ServerState, ServerStatus


async def list_servers(call: Call) -> int:
    """Print every MCP server with its state; nothing is started."""
    statuses = call.moot.engine.servers()
    if call.arguments.json:
        await call.out.write(json_line([_fields(call, one) for one in statuses]))
        return OK
    lines = [
        one_line(f"{exact(one.server.name)}  {_state_text(one, call.texts)}  {exact(shown_line(one.server))}")
        + "\n"
        for one in statuses
    ]
    await call.out.write("".join(lines) or call.texts("cli.servers.none") + "\n")
    return OK


async def allow_server(call: Call) -> int:
    """Show what exactly would run, and let it run once the user agrees."""
    engine, name = call.moot.engine, call.arguments.name
    # One that was allowed before may have changed its tools since: that is seen once it is connected.
    await engine.attach((_status(call).server.name,))
    shown = _status(call)
    if not call.arguments.json:
        await call.out.write(_description(shown, call.texts))
    if not await confirmed(call, call.texts("cli.servers.allow")):
        return PAUSED_OR_STOPPED
    await engine.mcp.allow(shown)
    allowed = _status(call)
    if call.arguments.json:
        await call.out.write(json_line(_fields(call, allowed)))
        return OK
    await call.out.write(call.texts("cli.servers.allowed", name=one_line(name)) + "\n")
    if allowed.tools:
        tools = one_line(", ".join(allowed.tools))
        await call.out.write(call.texts("server.tools", tools=tools) + "\n")
    if allowed.state == ServerState.DOWN:
        await call.out.complain(_trouble(call, allowed))
    return OK


async def deny_server(call: Call) -> int:
    """Withdraw what was allowed; a server that runs is ended."""
    await call.moot.engine.mcp.deny(_status(call).server.name)
    if call.arguments.json:
        await call.out.write(json_line(_fields(call, _status(call))))
    else:
        await call.out.write(call.texts("cli.servers.denied", name=one_line(call.arguments.name)) + "\n")
    return OK


def _status(call: Call) -> ServerStatus:
    """Return the server that was named. Raises NotFound."""
    for status in call.moot.engine.servers():
        if status.server.name == call.arguments.name:
            return status
    raise NotFound("mcp_server_not_found", name=call.arguments.name)


def _state(status: ServerStatus) -> str:
    return "ready" if status.state == ServerState.OFF and not status.server.disabled else status.state


def _state_text(status: ServerStatus, texts: Texts) -> str:
    return named_text(texts, "server.state", _state(status))


def _trouble(call: Call, status: ServerStatus) -> str:
    said = named_text(call.texts, "problem", status.problem) if status.problem else ""
    return call.moot.secrets.redact(one_line(f"{said} {status.detail}"))


def _description(status: ServerStatus, texts: Texts) -> str:
    """Return what would be run or asked, to the letter but for secrets: of those only the names."""
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
        lines += [f"  {exact(tool)}" for tool in status.changed]
    return "\n".join([*lines, ""])


def _fields(call: Call, status: ServerStatus) -> dict[str, object]:
    server = status.server
    shown, hidden = shown_values(server)
    return {
        "name": server.name,
        "state": _state(status),
        "line": call.moot.secrets.redact(shown_line(server)),
        "folder": server.cwd,
        "variables": shown,
        "secret_variables": list(hidden),
        "tools": list(status.tools) if status.state == ServerState.CONNECTED else [],
        "changed": list(status.changed),
        "problem": status.problem,
        "detail": status.detail,
    }
