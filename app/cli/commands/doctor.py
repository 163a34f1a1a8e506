"""`moot doctor`: checks what Moot needs on this computer, one line for each check, with what helps.

Prints where a key comes from, never the key.
"""

import asyncio
import contextlib
import importlib.metadata
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app import __version__
from app.children.host_client import answer_lines, child_process
from app.children.login_start import BackgroundAtLogin
from app.children.processes import IMPORT_CHECK
from app.cli.arguments import Arguments
from app.cli.commands.providers import key_text, provider_state
from app.cli.control import owner_pid
from app.cli.exit_status import FAULT, OK
from app.cli.printing.lines import error_line, json_line, one_line, problem_line
from app.cli.terminal import Out, show_progress
from app.core.errors import MootError, StorageError
from app.core.frozen import Frozen
from app.core.ids import is_id
from app.core.owned_tasks import start_owned
from app.core.servers import parted, secret_fields, secret_place, shown_line
from app.core.texts import Texts
from app.core.tool import ServerState
from app.linux import input_method, install_command, missing_libraries
from app.providers.model_file import find_model
from app.providers.model_host.__main__ import LITELLM_VARIABLES
from app.providers.new_version import VersionFile
from app.storage.access import WriterLock, check_owner, keeps_permissions, open_to_others
from app.storage.file_system import FileSystem, storage_error
from app.storage.log import NOTHING, TORN_END
from app.storage.log import faults as log_faults
from app.storage.paths import DataPaths, resources_dir
from app.storage.secrets import LOCKED, NO_KEYRING, SERVICE, TIMEOUT_SECONDS, KeyringQueue, default_backend
from app.wiring import Moot, open_moot

# Each package with the module that is imported. Before Qt, whose folders have libraries that others need too.
_PACKAGES = {
    "xllamacpp": "xllamacpp", "litellm": "app.providers.model_host.host",
    "keyring": "keyring", "msgspec": "msgspec", "pydantic": "pydantic",
    "trafilatura": "trafilatura", "lxml_html_clean": "lxml_html_clean",
    "pypdfium2": "pypdfium2", "office_oxide": "office_oxide", "python_docx": "docx",
    "PySide6_Essentials": "PySide6.QtWidgets", "qasync": "qasync",
}  # fmt: skip
# For all of them, where a virus scanner looks at each file first.
_IMPORT_SECONDS = 180.0
MAX_DETAIL = 200


class Finding(Frozen):
    """The result of a check: its name, whether it is fine, what was found, and what helps.

    `unused` is of something that nobody has set up, such as a provider without a key; that is fine.
    """

    check: str
    ok: bool
    found: str
    remedy: str = ""
    unused: bool = False

    @property
    def mark(self) -> str:
        """The name of the word before it."""
        return "problem" if not self.ok else "unused" if self.unused else "ok"


def _finding(
    check: str, found: str, remedy: str = "", *, ok: bool | None = None, unused: bool = False
) -> Finding:
    """Return a finding; what needs no remedy is fine if nothing else is said."""
    ok = not remedy if ok is None else ok
    return Finding(check=check, ok=ok, found=found, remedy=remedy, unused=unused)


async def examine(paths: DataPaths, arguments: Arguments, out: Out, texts: Texts) -> int:
    """Print every finding; the exit status is FAULT if one of them is a problem."""
    missing = missing_libraries()
    # Without these libraries Qt cannot be imported, which is said of them.
    left_out = ("PySide6_Essentials", "qasync") if missing else ()
    importing = start_owned(_import_faults([name for name in _PACKAGES if name not in left_out]))
    findings = [_newer(paths, texts), _data_dir(paths, texts), *_permissions(paths, texts)]
    findings += [
        _lock(paths, texts),
        _login_start(paths, texts),
        await _keyring(texts),
        _model_file(paths, texts),
    ]
    rest = [_qt(missing, texts), *_input_method(texts), *await _from_files(paths, texts)]
    rest += await asyncio.to_thread(_logs, paths, texts)
    faults = await importing
    findings = [*_versions(faults, texts), *findings, _runtime(faults, texts), *rest]
    if arguments.json:
        await out.write(json_line([asdict(each) for each in findings]))
    else:
        for each in findings:
            said = f"{texts(f'cli.doctor.{each.mark}')} · {texts(f'cli.doctor.{each.check}')}: {each.found}"
            await out.write(one_line(f"{said} → {each.remedy}" if each.remedy else said) + "\n")
    return OK if all(each.ok for each in findings) else FAULT


async def _import_faults(left: list[str]) -> dict[str, str]:
    """Import packages in a child process; return why one could not be imported by its name."""
    faults: dict[str, str] = {}
    while left:
        request = {"modules": [_PACKAGES[name] for name in left], "environment": LITELLM_VARIABLES}
        try:
            async with asyncio.timeout(_IMPORT_SECONDS), child_process(IMPORT_CHECK, request) as process:
                async for answer in answer_lines(process):
                    name = left.pop(0)
                    if fault := one_line(answer["fault"])[:MAX_DETAIL]:
                        faults[name] = fault
                ended = f"exit {await process.wait()}"
        except OSError as error:
            ended = type(error).__name__
        if left:
            # The next one has ended the process, or taken too long.
            faults[left.pop(0)] = ended
    return faults


def _versions(faults: Mapping[str, str], texts: Texts) -> Iterator[Finding]:
    system = f"Python {platform.python_version()}, {platform.platform()}"
    yield _finding("version", f"Moot {__version__}, {system}")
    installed = []
    for package in _PACKAGES:
        version = ""
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            version = f" {importlib.metadata.version(package)}"
        fault = f" ({faults[package]})" if package in faults else ""
        installed.append(f"{package}{version}{fault}")
    remedy = texts("cli.doctor.install_packages", names=", ".join(faults)) if faults else ""
    yield _finding("packages", ", ".join(installed), remedy)


def _newer(paths: DataPaths, texts: Texts) -> Finding:
    """Report the newer version that the window has found when it looked last; asks nobody."""
    versions = VersionFile(paths.new_version, resources_dir())
    day, found = versions.last()
    if found is not None:
        return _finding("newer", f"Moot {found.version} ({found.day}), {found.link}")
    state = "nobody" if not versions.address else "none" if day else "never"
    return _finding("newer", texts(f"cli.doctor.newer.{state}", day=day), unused=state != "none")


def _data_dir(paths: DataPaths, texts: Texts) -> Finding:
    # The nearest existing folder decides whether the rest can be created.
    place = next(folder for folder in (paths.root, *paths.root.parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        detail = error.strerror or type(error).__name__
        return _finding("data_dir", f"{paths.root} ({detail})", texts("cli.doctor.choose_data_dir"))
    return _finding("data_dir", str(paths.root))


def _permissions(paths: DataPaths, texts: Texts) -> Iterator[Finding]:
    """Check whether other accounts may read the data directory; nothing if it does not exist yet."""
    try:
        check_owner(paths.root)
        if not paths.root.is_dir():
            return
        if not keeps_permissions(paths.root):
            # Windows has another kind of permissions, and a user's folders are private there.
            remedy = "" if os.name == "nt" else texts("cli.doctor.choose_private_dir")
            yield _finding("permissions", texts("cli.doctor.no_permissions"), remedy)
        elif count := open_to_others(paths.root):
            found, remedy = texts("cli.doctor.open_to_others", count=count), texts("cli.doctor.made_private")
            yield _finding("permissions", found, remedy)
        else:
            yield _finding("permissions", texts("cli.doctor.only_you"))
    except StorageError as error:
        yield _finding("permissions", error_line(error, texts), ok=False)
    except OSError:
        return  # Another check reports that it cannot be written.


def _lock(paths: DataPaths, texts: Texts) -> Finding:
    if WriterLock(paths).is_held():
        return _finding("lock", texts("cli.doctor.lock_held", pid=owner_pid(paths.control) or "?"))
    return _finding("lock", texts("cli.doctor.lock_free"))


def _login_start(paths: DataPaths, texts: Texts) -> Finding:
    starts = BackgroundAtLogin(paths.root).is_installed()
    found = texts("cli.doctor.login_start") if starts else texts("cli.doctor.no_login_start")
    return _finding("login", found, unused=not starts)


async def _keyring(texts: Texts) -> Finding:
    """Check the keyring without unlocking it: it may be installed and still be locked or not respond."""
    asked: list[str] = []

    def find_backend() -> Any:
        backend = default_backend()
        asked.append(f"{type(backend).__module__}.{type(backend).__name__}")
        return backend

    queue = KeyringQueue(find_backend, SERVICE, TIMEOUT_SECONDS)
    answer = await queue.ask(lambda keyring: keyring.read(("doctor",)), lambda _answer, _late: None)
    problem = answer.problem or (LOCKED if answer.value.state == LOCKED else "")
    found = next(iter(asked), "-")
    if not problem:
        return _finding("keyring", found)
    state = "" if problem == NO_KEYRING else f" ({texts(f'provider.keyring_{problem}')})"
    return _finding("keyring", found + state, texts(f"cli.doctor.keyring_{problem}"))


def _input_method(texts: Texts) -> Iterator[Finding]:
    """Report how Korean is typed, if an input method is configured."""
    method = input_method()
    names = ", ".join(method.asked)
    if names and not method.served:
        yield _finding("input_method", names, texts("cli.doctor.no_input_method", name=names))
    elif names:
        found = texts("cli.doctor.input_by_ibus", name=names) if method.instead else names
        yield _finding("input_method", found)


def _model_file(paths: DataPaths, texts: Texts) -> Finding:
    path = find_model(paths.root)
    if path is not None:
        return _finding("model", str(path))
    return _finding("model", texts("cli.doctor.no_model"), texts("cli.doctor.get_model"))


def _runtime(faults: Mapping[str, str], texts: Texts) -> Finding:
    flags = Path("/proc/cpuinfo")
    known = platform.machine() in {"x86_64", "AMD64"} and flags.is_file()
    if known and " avx2" not in flags.read_text(encoding="utf-8"):
        return _finding("runtime", texts("cli.doctor.no_avx2"), texts("cli.doctor.other_model"))
    if fault := faults.get("xllamacpp"):
        remedy = texts("cli.doctor.install_packages", names="xllamacpp")
        if sys.platform == "win32" and "DLL" in fault:
            remedy = texts("cli.doctor.install_libraries")
        return _finding("runtime", fault, remedy)
    return _finding("runtime", f"xllamacpp, {os.cpu_count()} CPU")


def _qt(missing: list[tuple[str, str, str]], texts: Texts) -> Finding:
    if not missing:
        return _finding("qt", texts("cli.doctor.all_there"))
    return _finding("qt", ", ".join(row[0] for row in missing), install_command(missing))


async def _from_files(paths: DataPaths, texts: Texts) -> list[Finding]:
    """Report what the files of the data directory contain, and which cannot be read."""
    try:
        moot = await open_moot(paths.root, write=False, language=texts.language)
    except MootError as error:
        return [_finding("files", error_line(error, texts), ok=False)]
    try:
        findings = []
        await moot.engine.look_for_servers()
        for status in moot.engine.providers():
            remedy = texts("cli.doctor.set_key") if status.problem == "no_key" else ""
            unused = status.problem in {"no_key", "no_server", "disabled"}
            found = f"{status.config.id}: {provider_state(status, texts)}, {key_text(status, texts)}"
            ok = status.ready or unused
            findings.append(_finding("provider", found, remedy, ok=ok, unused=unused))
        findings += [*_assistants(moot, texts), *_groups(moot, texts), *_workflows(moot, texts)]
        findings += _servers(moot, texts)
        # What is wrong with each log is said below, line by line.
        others = [problem for problem in moot.engine.problems() if problem.code != "damaged_log"]
        lines = [problem_line(problem, texts) for problem in others]
        return findings + [_finding("files", line, ok=False) for line in lines]
    finally:
        await moot.close()


def _logs(paths: DataPaths, texts: Texts) -> list[Finding]:
    """Read the log of every session and report damaged or missing lines, and what was lost with them."""
    disk = FileSystem()
    try:
        names = sorted(file.name for file in disk.scan(paths.sessions))
    except OSError as error:
        return [_finding("sessions", error_line(storage_error(error, paths.sessions), texts), ok=False)]
    logs = [paths.sessions / name for name in names if name.endswith(".jsonl") and is_id(name[:-6])]
    found = []
    for done, path in enumerate(logs, 1):
        show_progress(texts("cli.doctor.reading", done=done, count=len(logs)))
        try:
            with disk.open_read(path) as file:
                faults = log_faults(file)
        except OSError as error:
            found.append(_finding("sessions", error_line(storage_error(error, path), texts), ok=False))
            continue
        for fault in faults:
            lost = texts(f"cli.doctor.lost.{fault.lost}", count=fault.count, detail=fault.detail)
            said = texts("cli.doctor.lost", place=f"{path}:{fault.line}", lost=lost)
            remedy = "" if fault.lost in (NOTHING, TORN_END) else texts("cli.doctor.restore")
            found.append(_finding("sessions", said, remedy, ok=False))
    show_progress("")
    return found or [_finding("sessions", texts("cli.doctor.logs_fine", count=len(logs)))]


def _assistants(moot: Moot, texts: Texts) -> Iterator[Finding]:
    """Report the model of each assistant, and the names in it that do not exist."""
    agents = moot.engine.assistants.all()
    tools = {key for tool in moot.engine.assistants.tools() for key in (tool.key, tool.group)}
    others = {agent.id for agent in agents}
    servers = {status.server.name for status in moot.engine.servers.all()}
    providers = {status.config.id for status in moot.engine.providers()} | {""}
    for agent in agents:
        named = ((agent.tools, tools), (agent.sub_agents, others), (agent.mcp_servers, servers))
        unknown = [name for names, known in named for name in names if name not in known]
        unknown += [agent.provider] if agent.provider not in providers else []
        model = f"{agent.provider}/{agent.model}" if agent.provider else texts("cli.doctor.default_model")
        off = "" if agent.enabled else f", {texts('cli.doctor.off')}"
        remedy = texts("cli.doctor.unknown_names", names=", ".join(unknown)) if unknown else ""
        yield _finding("assistant", f"{agent.name} ({agent.id}): {model}{off}", remedy)


def _groups(moot: Moot, texts: Texts) -> Iterator[Finding]:
    """Report the members of each group, and those that do not exist."""
    agents = {agent.id: agent for agent in moot.engine.assistants.all()}
    providers = {status.config.id for status in moot.engine.providers()} | {""}
    for group in moot.engine.groups.all():
        names = [agents[member].name for member in group.members if member in agents]
        unknown = [member for member in group.members if member not in agents]
        leader = group.orchestrator.provider
        unknown += [leader] if leader not in providers else []
        remedy = texts("cli.doctor.unknown_names", names=", ".join(unknown)) if unknown else ""
        if not names:
            remedy = remedy or texts("cli.doctor.empty_group")
        yield _finding("group", f"{group.name} ({group.id}): {', '.join(names) or '-'}", remedy)


def _workflows(moot: Moot, texts: Texts) -> Iterator[Finding]:
    """Report the number of steps of each workflow, and what keeps it from running, such as a role nobody
    has.
    """
    for definition in moot.engine.workflows.all():
        names, remedy = {"name": definition.name, "id": definition.id}, ""
        found = texts("cli.doctor.workflow_steps", **names, count=len(definition.steps))
        for fault in moot.engine.workflows.faults(definition)[:1]:
            remedy = texts(f"error.workflow_{fault.code}", field=fault.path, detail=fault.detail[:MAX_DETAIL])
        yield _finding("workflow", found, remedy)


def _servers(moot: Moot, texts: Texts) -> Iterator[Finding]:
    """Report the state of each MCP server, without starting any."""
    for status in moot.engine.servers.all():
        server = status.server
        found = f"{server.name}: {texts(f'server.state.{status.state}')}, {shown_line(server)}"
        ok, remedies = status.state != ServerState.DOWN, []
        if bool(server.command) and not server.disabled and shutil.which(server.command) is None:
            ok = False
            remedies.append(texts("cli.doctor.no_command", command=server.command))
        elif status.state == ServerState.ASKING:
            remedies.append(texts("cli.doctor.allow_server"))
        places = {field: secret_place(server.name, field) for field in secret_fields(server)}
        if lacking := [field for field, place in places.items() if moot.secrets.get(place, "") is None]:
            ok = False
            remedies.append(texts("cli.doctor.no_secret", names=", ".join(lacking)))
        if plain := ", ".join(parted(server)[1]):
            ok = False
            remedies.append(texts("cli.doctor.plain_secret", names=plain))
        yield _finding("server", moot.secrets.redact(found), "; ".join(remedies), ok=ok)
