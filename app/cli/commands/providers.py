"""`moot providers`, `keys`, `usage`, `models`, `agents`, `servers` and `skills`.

`moot models`: what is on this computer or can be downloaded to it. `moot agents` lists external agents, adds,
tries and allows one, or withdraws that; `moot servers` does so with MCP servers, and logs in and out.
"""

import asyncio
import contextlib
import os
import webbrowser
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

from app.cli.arguments import Agreed, Typed, absolute
from app.cli.command_run import CommandRun
from app.cli.exit_status import FAULT, OK, PAUSED_OR_STOPPED
from app.cli.interrupt import beside
from app.cli.printing.lines import columns, error_line, json_line, lines_text, named_text, one_line
from app.core.catalog import EMBEDDED_MODEL, LOCAL, PROGRAM, RECIPES, ProviderConfig, provider_kind, recipe_of
from app.core.errors import BadInput, FailureKind, MootError, NotFound, ProviderError
from app.core.events import Event, KeysChanged, ModelFetching, Notice
from app.core.message import AMOUNTS, money_text, saved_text, used_text
from app.core.provider import LocalModel, ProviderStatus, shown_label
from app.core.servers import shown_line, shown_values
from app.core.session import failure_text, no_vote_reason
from app.core.skills import Contents, Skill, whole_text
from app.core.store import KeyNews
from app.core.texts import Texts, exact, join_command, size_text, visible
from app.core.tool import ServerState, ServerStatus, changed_tools
from app.engine.export.event_lines import fields_of
from app.engine.voting import votes_with
from app.storage.secrets import variable_name

ProviderName = Annotated[str, Typed(text="keys.name", metavar="PROVIDER")]
ModelId = Annotated[str, Typed(text="models.name", metavar="ID")]
ModelFile = Annotated[str, Typed(text="models.name", metavar="FILE")]
Program = Annotated[str, Typed(text="agents.name", metavar="PROGRAM")]
AgentId = Annotated[str, Typed(text="agents.name", metavar="ID")]


async def list_providers(run: CommandRun) -> int:
    """Print every provider with its state, the source of its key and its models."""
    await run.engine.look_for_servers()
    records, rows = [], []
    for each in run.engine.providers():
        state, key = provider_state(each, run.texts), key_text(each, run.texts)
        name, label = each.config.id, shown_label(each, run.texts)
        rows.append((name, label, state, key, ", ".join(each.models) or "-"))
        record = fields_of(each.config, "id", "kind", "enabled") | asdict(each)
        del record["config"]
        records.append(record)
    return await run.answer_rows(records, rows)


async def keys_list(run: CommandRun) -> int:
    """Print where the key of each provider comes from; never a key."""
    records, rows = [], []
    for each in run.engine.providers():
        name, problem = each.config.id, _unread(each)
        key = run.texts(f"provider.{problem}") if problem else key_text(each, run.texts)
        rows.append((name, shown_label(each, run.texts), key))
        record = {"provider": name, "needs_key": each.needs_key, "source": each.key_source}
        records.append({**record, "problem": problem})
    return await run.answer_rows(records, rows)


async def keys_set(run: CommandRun, name: ProviderName) -> int:
    """Read a key from the terminal, hidden, or from standard input, and store it.

    A provider of the catalogue that the user does not have yet is added.
    """
    row, known = provider_kind(name), {status.config.id for status in run.engine.providers()}
    if row is not None and row.needs_key and name not in known:
        new = run.engine.connections.draft(name)
        name, label = new.id, row.label
    else:
        new, label = None, run.provider_named(name).label
    key = await run.ask(run.texts("cli.keys.prompt", provider=one_line(label)) + " ", secret=True)
    if key is None:
        await run.out.complain(run.texts("cli.not_agreed"))
        return PAUSED_OR_STOPPED
    if new is not None:
        await run.engine.save_provider(new)
    if not await _store(run, name, key):
        return FAULT
    return await _report_key(run, "cli.keys.stored", name)


async def _store(run: CommandRun, provider: str, key: str) -> bool:
    """Store a key, waiting while the keyring asks its user; report why it is not stored."""
    keys = run.engine.keys
    answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def listen(events: tuple[Event, ...]) -> None:
        codes = {event.code for event in events if isinstance(event, Notice)}
        if codes & {f"key_{KeyNews.KEPT}", f"key_{KeyNews.NOT_KEPT}"} and not answered.done():
            answered.set_result(f"key_{KeyNews.KEPT}" in codes)

    unsubscribe = run.engine.bus.subscribe(listen)
    try:
        kept = await keys.set(provider, key)
        run.engine.bus.publish(KeysChanged(session_id=""))
        if not kept:
            instead = run.texts("cli.keys.instead", variable=variable_name(provider))
            await run.out.complain(f"{run.texts(f'keyring.{keys.problem}')} {instead}")
        if not kept and keys.problem == "waiting":
            kept = bool(await run.unless_interrupted(answered))
    finally:
        unsubscribe()
    return kept


async def keys_remove(run: CommandRun, name: ProviderName) -> int:
    """Remove a key that Moot has stored; a key in the environment cannot be removed."""
    status = run.provider_named(name)
    provider = status.config.id
    if status.key_source == "environment":
        raise BadInput("key_in_environment", provider=provider)
    if not status.key_source and not _unread(status):
        raise BadInput("no_key_kept", provider=provider)
    try:
        await run.engine.keys.remove(provider)
    finally:
        run.engine.bus.publish(KeysChanged(session_id=""))
    return await _report_key(run, "cli.keys.removed", provider)


def _unread(status: ProviderStatus) -> str:
    """Return why a key could not be read, a code of `provider.<code>`, or ""."""
    return status.problem if status.problem.startswith("keyring_") else ""


async def _report_key(run: CommandRun, text: str, provider: str) -> int:
    [source] = [status.key_source for status in run.engine.providers() if status.config.id == provider]
    said = run.texts(text, provider=provider)
    return await run.answer({"provider": provider, "source": source}, f"{said}\n")


async def usage(run: CommandRun) -> int:
    """Print what each month used and cost, the newest first."""
    records, lines = [], []
    for month, total in await run.engine.usage.months():
        used = fields_of(replace(total.used, cost_usd=total.cost_usd), *AMOUNTS)
        counts = {"unpriced_calls": total.unpriced, "estimated_calls": total.estimated}
        records.append({"month": month, "calls": total.calls, **used, **counts})
        money, tokens = money_text(run.texts, total), used_text(total)
        line = run.texts("cli.usage", month=month, money=money, count=total.calls, tokens=tokens)
        lines.append(" · ".join(filter(None, (line, saved_text(run.texts, total)))))
    return await run.answer(records, lines_text(lines))


async def models_list(run: CommandRun) -> int:
    """Print every model of this computer, and those that can be downloaded, with state and size."""
    models = run.engine.local_models
    found = await asyncio.to_thread(models.all)
    rows = []
    for model in found:
        parts = [model.id, run.texts(f"cli.models.{_state(model)}", percent=model.done * 100 // model.size)]
        parts += [size_text(run.texts, model.size), model.licence]
        remarks = [model.path]
        if free := models.lacks_memory(model):
            need, left = (size_text(run.texts, size) for size in (model.memory, free))
            remarks.append(run.texts("cli.models.lacks", need=need, free=left, model=model.id))
        if _stable(run, model) >= 0:
            stable, asked = run.engine.voting.result((LOCAL, model.id))
            remarks.append(run.texts("cli.models.votes", stable=stable, all=asked))
            reason = run.engine.voting.judge_reason((LOCAL, model.id))
            if votes_with(reason):
                remarks.append(run.texts("cli.models.no_judging", reason=no_vote_reason(reason, run.texts)))
            elif reason:
                remarks.append(run.texts("cli.models.no_vote"))
        if not models.fits(model):
            remarks.append(run.texts("error.model_too_large", name=model.name, need=model.computer_gb))
        rows.append((*parts, " · ".join(filter(None, remarks))))
    return await run.answer_rows([_record(run, model) for model in found], rows)


async def models_get(run: CommandRun, name: ModelId, yes: Agreed = False) -> int:
    """Download a model's file, check its hash, and print the progress; Ctrl+C pauses the download."""
    model = await _model(run, name)
    models = run.engine.local_models
    if model.path:
        await models.offer(model.id)
        return await _report(run, model.id, "cli.models.here")
    if model.id == EMBEDDED_MODEL and (named := os.environ.get("MOOT_MODEL")):
        raise BadInput("model_named", path=named)
    question = "cli.models.get_licensed" if model.licence else "cli.models.get"
    details = {"licence": model.licence, "page": model.licence_page, "size": size_text(run.texts, model.size)}
    asked = run.texts(question, model=model.id, **details)
    if await models.is_metered():
        asked = f"{run.texts('cli.models.metered')} {asked}"
    if not await run.confirm(asked, yes=yes):
        return PAUSED_OR_STOPPED
    try:
        async with beside(_show(run, model.id)):
            await run.unless_interrupted(models.fetch(model.id))
    except BadInput:
        raise
    except MootError as error:
        # The network or the disk failed; the command line was right.
        if run.arguments.json:
            await run.answer({"id": model.id, "state": "failed", "code": error.code}, "")
        await run.out.complain(error_line(error, run.texts))
        return FAULT
    if run.interrupted.is_set():
        await run.out.complain(run.texts("cli.models.paused_now", model=model.id))
        return PAUSED_OR_STOPPED
    return await _report(run, model.id, "cli.models.fetched")


async def models_remove(run: CommandRun, name: ModelId, yes: Agreed = False) -> int:
    """Delete the file of a model that Moot downloaded, or what was downloaded of it."""
    model = await _model(run, name)
    if not model.path and not model.done:
        raise BadInput("model_not_here", model=model.id)
    asked = run.texts("cli.models.remove", model=model.id, path=one_line(model.path))
    if not await run.confirm(asked, yes=yes):
        return PAUSED_OR_STOPPED
    await run.engine.local_models.remove(model.id)
    record = {"id": model.id, "state": "missing", "size": model.size, "path": ""}
    return await run.answer(record, run.texts("cli.models.removed", model=model.id) + "\n")


async def models_add(run: CommandRun, name: ModelFile) -> int:
    """Add a GGUF file, which stays where it is, after its model has answered once."""
    model = await run.engine.local_models.add(Path(name))
    return await _report(run, model.id, "cli.models.added")


async def models_check(run: CommandRun, name: ModelId) -> int:
    """Compare a model's file with its hash, then check whether the model can vote."""
    await run.engine.local_models.check(name)
    if name != EMBEDDED_MODEL:
        with contextlib.suppress(ProviderError):
            await run.engine.debates.check_voting(LOCAL, name)
    return await _report(run, name, "cli.models.whole")


async def models_allow(run: CommandRun, name: ModelId, yes: Agreed = False) -> int:
    """Let a model be loaded although it needs more memory than is free."""
    model, local = await _model(run, name), run.engine.local_models
    if free := local.lacks_memory(model):
        need, left = (size_text(run.texts, size) for size in (model.memory, free))
        asked = run.texts("cli.models.allow", model=model.id, need=need, free=left)
        if not await run.confirm(asked, yes=yes):
            return PAUSED_OR_STOPPED
    await local.load_anyway(model.id)
    return await _report(run, model.id, "cli.models.allowed")


async def _show(run: CommandRun, model_id: str) -> None:
    """Print each further tenth of the model's bytes, until this is cancelled."""
    told: asyncio.Queue[tuple[Event, ...]] = asyncio.Queue()
    with contextlib.ExitStack() as heard:
        heard.callback(run.engine.bus.subscribe(told.put_nowait))
        shown = 0
        while True:
            for event in await told.get():
                if not isinstance(event, ModelFetching) or event.model != model_id:
                    continue
                done, size = event.progress.done, event.progress.total
                if (tenth := done * 10 // size) > shown:
                    shown = tenth
                    record = {"event": "model.progress", "id": model_id, "bytes": done, "size": size}
                    how_far = {"percent": tenth * 10, "size": size_text(run.texts, size)}
                    await run.answer(record, run.texts("cli.models.progress", **how_far) + "\n")


async def _model(run: CommandRun, name: str) -> LocalModel:
    """Return the model of that name. Raises NotFound."""
    return await asyncio.to_thread(run.engine.local_models.find, name)


async def _report(run: CommandRun, model_id: str, text: str) -> int:
    model = await _model(run, model_id)
    words = run.texts(text, model=model.id, path=one_line(model.path))
    return await run.answer(_record(run, model), f"{words}\n")


def _state(model: LocalModel) -> str:
    return "installed" if model.path else "paused" if model.done else "missing"


def _record(run: CommandRun, model: LocalModel) -> dict[str, object]:
    stable, fits = _stable(run, model), run.engine.local_models.fits(model)
    votes = stable >= 0 and not run.engine.voting.reason((LOCAL, model.id))
    record = {**fields_of(model, "id", "name"), "state": _state(model)}
    record |= {**fields_of(model, "size", "done", "path", "licence", "memory"), "fits": fits}
    return {**record, **fields_of(model, "anyway", "tried"), "stable": stable, "votes": votes}


def _stable(run: CommandRun, model: LocalModel) -> int:
    """Return how many questions of the voting check a model answered alike, -1 where it was not checked."""
    if model.id == EMBEDDED_MODEL or not model.path:
        return -1
    return run.engine.voting.result((LOCAL, model.id))[0]


async def agents_list(run: CommandRun) -> int:
    """Print the external agents with their state, and the known programs with where they are,
    without starting any.
    """
    added = [status for status in run.engine.providers() if status.config.kind == PROGRAM]
    found = await run.engine.connections.found_agents()
    rows = []
    for each in added:
        state, line = provider_state(each, run.texts), _command_line(each.config)
        rows.append((each.config.id, exact(each.label), state, line))
    known = []
    for recipe in RECIPES:
        key = "cli.agents.found" if recipe.name in found else "cli.agents.missing"
        where = {"file": exact(found.get(recipe.name, "")), "command": recipe.install}
        known.append(run.texts(key, name=recipe.name, label=recipe.label, **where))
    records = {
        "added": [_fields(status) for status in added],
        "known": [{"name": each.name, "label": each.label, "file": found.get(each.name)} for each in RECIPES],
    }
    return await run.answer(records, lines_text((*columns(rows), *map(one_line, known))))


async def agents_add(run: CommandRun, name: Program, yes: Agreed = False) -> int:
    """Show exactly what would run, and add it if the user agrees."""
    return await _allow(run, run.engine.connections.agent_draft(name), yes=yes)


async def agents_allow(run: CommandRun, name: AgentId, yes: Agreed = False) -> int:
    """Show exactly what would run, and allow it if the user agrees."""
    return await _allow(run, run.provider_named(name, kind=PROGRAM).config, yes=yes)


async def _allow(run: CommandRun, shown: ProviderConfig, *, yes: bool) -> int:
    words = run.texts
    if not run.arguments.json:
        lines = [words("consent.command"), f"  {_command_line(shown)}", words("agent.truth")]
        if recipe_of(shown.recipe) not in RECIPES:
            lines.append(words("agent.no_recipe"))
        await run.out.write(lines_text(lines))
    if not await run.confirm(words("cli.agents.allow"), yes=yes):
        return PAUSED_OR_STOPPED
    await run.engine.connections.allow_agent(shown)
    [status] = [each for each in run.engine.providers() if each.config.id == shown.id]
    text = words("cli.agents.allowed", name=exact(status.label), id=shown.id)
    return await run.answer(_fields(status), f"{one_line(text)}\n")


async def agents_deny(run: CommandRun, name: AgentId) -> int:
    """Withdraw the consent to run an external agent."""
    await run.engine.connections.deny_agent(run.provider_named(name, kind=PROGRAM).config.id)
    status = run.provider_named(name, kind=PROGRAM)
    text = run.texts("cli.servers.denied", name=exact(status.label))
    return await run.answer(_fields(status), f"{one_line(text)}\n")


async def agents_check(run: CommandRun, name: AgentId) -> int:
    """Start an external agent and open a session, which costs no tokens."""
    status, words = run.provider_named(name, kind=PROGRAM), run.texts
    result = await run.engine.test_provider(status.config.id)
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
    return exact(join_command([config.command, *config.args]))


def _fields(status: ProviderStatus) -> dict[str, object]:
    config = status.config
    record = {"id": config.id, "label": status.label, "line": _command_line(config), "recipe": config.recipe}
    return {**record, **fields_of(status, "ready", "problem")}


def provider_state(status: ProviderStatus, texts: Texts) -> str:
    """Return that a provider is ready, or what is wrong with it."""
    return texts("cli.ready") if status.ready else named_text(texts, "provider", status.problem)


def key_text(status: ProviderStatus, texts: Texts) -> str:
    """Return where a provider's key comes from."""
    return texts(f"cli.key.{status.key_source or ('none' if status.needs_key else 'needless')}")


Name = Annotated[str, Typed(text="servers.name", metavar="NAME")]


async def servers_list(run: CommandRun) -> int:
    """Print every MCP server with its state, without starting any."""
    statuses, rows = run.engine.servers.all(), []
    for status in statuses:
        state = named_text(run.texts, "server.state", _server_state(status))
        rows.append((exact(status.server.name), state, exact(shown_line(status.server))))
    lines = []
    for status, row in zip(statuses, columns(rows), strict=True):
        lines += [row, *(f"  {said}" for said in _tool_lines(status, run.texts))]
    lines = lines or [run.texts("cli.servers.none")]
    return await run.answer([_server_fields(run, status) for status in statuses], lines_text(lines))


async def servers_allow(run: CommandRun, name: Name, yes: Agreed = False) -> int:
    """Show exactly what would run, and allow it if the user agrees."""
    # A server that was allowed before may have changed its tools, which is seen once it is connected.
    await run.engine.servers.attach((_status(run, name).server.name,))
    shown = _status(run, name)
    if not run.arguments.json:
        await run.out.write(_description(shown, run.texts))
    if not await run.confirm(run.texts("cli.servers.allow"), yes=yes):
        return PAUSED_OR_STOPPED
    await run.engine.servers.allow(shown)
    allowed = _status(run, name)
    lines = [run.texts("cli.servers.allowed", name=one_line(name)), *_tool_lines(allowed, run.texts)]
    status = await run.answer(_server_fields(run, allowed), lines_text(lines))
    if allowed.state == ServerState.DOWN and not run.arguments.json:
        await run.out.complain(_trouble(run, allowed))
    return status


async def servers_deny(run: CommandRun, name: Name) -> int:
    """Withdraw the consent to a server, which ends it if it runs."""
    await run.engine.servers.deny(_status(run, name).server.name)
    return await _report_server(run, name, "cli.servers.denied")


async def servers_login(
    run: CommandRun,
    name: Name,
    yes: Agreed = False,
    client_id: Annotated[str, Typed("--client-id", metavar="ID")] = "",
) -> int:
    """Log in to a server: show the address of its page, open that in the browser if the user agrees,
    and wait.
    """
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
    await run.unless_interrupted(run.engine.servers.login(name, agree, client_id, secret or ""))
    if unasked:
        raise unasked[0]
    status = _status(run, name)
    if status.state not in (ServerState.CONNECTED, ServerState.ASKING):
        await run.out.complain(_trouble(run, status))
        return PAUSED_OR_STOPPED
    return await _report_server(run, name, "cli.servers.logged_in")


async def servers_log(run: CommandRun, name: Name) -> int:
    """Print the last lines of a server's log."""
    name = _status(run, name).server.name
    text = visible(await run.engine.servers.log(name))
    return await run.answer({"name": name, "log": text}, text or f"{run.texts('cli.servers.no_log')}\n")


async def servers_logout(run: CommandRun, name: Name) -> int:
    """Forget the login to a server."""
    await run.engine.servers.logout(_status(run, name).server.name)
    return await _report_server(run, name, "cli.servers.logged_out")


async def _report_server(run: CommandRun, name: str, text: str) -> int:
    said = run.texts(text, name=one_line(name))
    return await run.answer(_server_fields(run, _status(run, name)), f"{said}\n")


def _status(run: CommandRun, name: str) -> ServerStatus:
    """Return the server of that name. Raises NotFound."""
    for status in run.engine.servers.all():
        if status.server.name == name:
            return status
    raise NotFound("mcp_server_not_found", name=name)


def _server_state(status: ServerStatus) -> str:
    return "ready" if status.state == ServerState.OFF and not status.server.disabled else status.state


def _tool_lines(status: ServerStatus, texts: Texts) -> list[str]:
    """Return what is known of a server's tools, a line for each thing that is said of some."""
    said = ((code, ", ".join(map(exact, tools))) for code, tools in status.said_of_tools)
    return [texts(f"server.{code}", tools=one_line(tools)) for code, tools in said]


def _trouble(run: CommandRun, status: ServerStatus) -> str:
    said = named_text(run.texts, "problem", status.problem) if status.problem else ""
    return run.moot.secrets.redact(one_line(f"{said} {status.detail}"))


def _description(status: ServerStatus, texts: Texts) -> str:
    """Return exactly what would be run or connected to; of secrets only the names."""
    server = status.server
    lines = [texts("consent.url" if server.url else "consent.command"), f"  {exact(shown_line(server))}"]
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


def _server_fields(run: CommandRun, status: ServerStatus) -> dict[str, object]:
    server = status.server
    shown, hidden = shown_values(server)
    line, state = run.moot.secrets.redact(shown_line(server)), _server_state(status)
    found: dict[str, object] = {"name": server.name, "state": state, "line": line, "folder": server.cwd}
    found |= {"variables": shown, "secret_variables": list(hidden)}
    found |= {"tools": list(status.tools) if status.state == ServerState.CONNECTED else []}
    said = ("changed", "changes", "reading", "deleting", "outside", "withheld", "problem", "detail")
    return {**found, **fields_of(status, *said)}


SkillName = Annotated[str, Typed(text="skills.name", metavar="NAME")]
SkillPath = Annotated[str, Typed(text="skills.path", metavar="PATH|ZIP", type=absolute)]


async def skills_list(run: CommandRun) -> int:
    """Print every skill with what it is for, and whether assistants read it."""
    skills = run.engine.skills
    await skills.look()
    found, rows = skills.all(), []
    for skill in found:
        said = error_line(skill.problem, run.texts) if skill.problem else skill.description
        rows.append((skill.name, run.texts(f"skill.state.{skills.state(skill)}"), said))
    return await run.answer([_skill_fields(run, skill) for skill in found], lines_text(columns(rows)))


async def skills_add(run: CommandRun, path: SkillPath, yes: Agreed = False) -> int:
    """Keep the skills of a folder or a zip, and show what they say; with `--yes` allow them."""
    records, added = [], await run.engine.skills.add(path)
    for skill in added:
        if skill.problem is None:
            record, lines, _ = await _described(run, skill.name, allow=yes)
            records.append(record)
            if not run.arguments.json:
                text = run.texts("cli.skills.allowed" if yes else "cli.skills.added", name=skill.name)
                await run.out.write(lines_text((*lines, text)))
    if run.arguments.json and records:
        await run.out.write(json_line(records))
    for problem in filter(None, (skill.problem for skill in added)):
        raise problem
    return OK


async def skills_show(run: CommandRun, name: SkillName) -> int:
    """Print what a skill says, each invisible character as its code."""
    record, lines, contents = await _described(run, name)
    text = await asyncio.to_thread(whole_text, contents)
    return await run.answer(record | {"text": text}, lines_text((*lines, "", text)))


async def skills_allow(run: CommandRun, name: SkillName) -> int:
    """Show what a skill says, and let assistants read it as it is now."""
    record, lines, _ = await _described(run, name, allow=True)
    return await run.answer(record, lines_text((*lines, run.texts("cli.skills.allowed", name=name))))


async def skills_remove(run: CommandRun, name: SkillName) -> int:
    """Move a skill to the trash."""
    await run.engine.skills.remove(name)
    return await run.answer({"name": name}, run.texts("cli.skills.removed", name=one_line(name)) + "\n")


_Described = tuple[dict[str, object], list[str], Contents]


async def _described(run: CommandRun, name: str, *, allow: bool = False) -> _Described:
    """Return a skill as a record, what the user should know of it, word for word, and its files.

    It is allowed as it is described, if that is wanted.
    """
    skills, words = run.engine.skills, run.texts
    skill, contents, look = await skills.seen(name)
    if allow:
        await skills.allow(skill)
    hidden = words("skill.hidden", count=look.hidden) if look.hidden else words("skill.hidden.none")
    lines = [f"{skill.name}: {skill.description}", hidden, words("skill.links", count=len(look.links))]
    lines += [f"  {exact(link)}" for link in look.links]
    lines.append(f"{words('skill.commands', count=len(look.commands))} {words('skill.not_run')}")
    lines += [f"  {line}" for line in look.commands]
    lines.append(words("skill.files", count=skill.files, size=size_text(words, skill.size)))
    lines += [f"  {path}" for path in sorted(contents)]
    return _skill_fields(run, skill) | asdict(look), lines, contents


def _skill_fields(run: CommandRun, skill: Skill) -> dict[str, object]:
    state = run.engine.skills.state(skill)
    found = fields_of(skill, "name", "title", "description", "files", "size", "built_in")
    problem = error_line(skill.problem, run.texts) if skill.problem else ""
    return found | {"state": state, "allowed": state in ("built_in", "allowed"), "problem": problem}
