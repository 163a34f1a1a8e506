"""Sets up, runs, tests and builds Moot on a computer that has only Python: `dev.py run`.

Standard library only, for Python 3.11 or newer on Linux, macOS and Windows. Everything is created inside the
checkout (.venv, .tools, .model), except Debian packages, which are listed first.
"""

import ctypes
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

USAGE = """\
usage: python3 packaging/dev.py COMMAND [ARGUMENTS]

  run [ARGUMENTS]     open Moot; with arguments: the program `moot` with them (run debate "…")
  test [ARGUMENTS]    run the tests; arguments go to pytest
  test --long         run the slow tests, and those that repeat four times as often
  bench [--short]     measure speed and memory against the targets, as a table
  build [--folder]    make the double-click builds in build/dist; --folder: no .deb and no archive
  setup [--webui]     only create the environment (.venv) and download the built-in model; --webui adds
                      support for pages of MCP servers (175 MB)
  lock                rewrite requirements.lock and packaging/*.lock (needs uv)

MOOT_NO_UV=1 uses pip alone. MOOT_NO_MODEL=1 leaves the built-in model out.
"""

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
TOOLS = ROOT / ".tools"
LOCK = ROOT / "requirements.lock"
BOOTSTRAP = ROOT / "packaging" / "bootstrap.lock"
WEBUI = ROOT / "packaging" / "webui.lock"
BUNDLE = ROOT / "packaging" / "bundle.lock"
STAMP = VENV / "moot-environment"
WINDOWS = sys.platform == "win32"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
STARTED = time.monotonic()

# The library that llama.cpp needs besides those of Qt, and its packages of Debian and Fedora.
OPENMP = ("libgomp.so.1", "libgomp1", "libgomp")
# Programs with their packages of Debian and Fedora: for a window without a screen, and for builds.
SCREEN = (("Xvfb", "xvfb", "xorg-x11-server-Xvfb"),)
BUILDERS = (("objdump", "binutils", "binutils"), ("zstd", "zstd", "zstd"))
MISSING_SYSTEM_PARTS = 3
# The tests of `test --long`: markers of pyproject.toml, and Hypothesis's own marker.
LONG_TESTS = "slow or repeats or hypothesis"
TESTS_FAILED = 1  # pytest's exit status


def main(arguments: Sequence[str]) -> int:
    """Run the command of the command line; return the exit status."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is run by whatever Python is there
        say(f"Moot needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
        return MISSING_SYSTEM_PARTS
    command, rest = (arguments[0] if arguments else ""), list(arguments[1:])
    if command not in ("run", "test", "bench", "build", "setup", "lock"):
        print(USAGE, end="")
        return 0 if command in ("-h", "--help") else 2
    os.chdir(ROOT)
    try:
        if command == "lock":
            write_locks()
            return 0
        virtual_screen = command == "run" and wants_window(rest) and not has_screen()
        need_system_parts(SCREEN if virtual_screen else BUILDERS if command == "build" else ())
        make_environment()
        if command == "setup" and "--webui" in rest:
            add_webui()
        fetch_model()
        if command == "build":
            fetch_builder()
    except subprocess.CalledProcessError as error:
        say(f"failed: {' '.join(map(str, error.cmd[:6]))} … exited with status {error.returncode}.")
        return 1
    if command == "run":
        return run_moot(rest, virtual_screen)
    if command == "test":
        if rest in ([], ["--long"]):
            return run_tests(long=bool(rest))
        return call([PYTHON, "-m", "pytest", *rest])
    if command == "bench":
        return call([PYTHON, "-m", "tests.benchmarks", *rest])
    if command == "build":
        return call([PYTHON, ROOT / "packaging" / "bundle.py", *rest], {"PYTHONPATH": str(TOOLS / "bundle")})
    return 0


# The machine ---------------------------------------------------------------------------------


def wants_window(arguments: Sequence[str]) -> bool:
    """Return whether `moot` opens the window with these arguments: they begin with no command."""
    return not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help"))


def has_screen() -> bool:
    """Return whether a window can be shown; on Linux that takes a display server."""
    if not sys.platform.startswith("linux"):
        return True
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return any(os.environ.get(name) for name in names)


def need_system_parts(programs: Sequence[tuple[str, str, str]]) -> None:
    """Install missing system packages, or print the command and exit with 3."""
    if not sys.platform.startswith("linux"):
        return
    known = load_by_path(ROOT / "app" / "linux.py")
    missing = known.missing_libraries()
    try:
        ctypes.CDLL(OPENMP[0])
    except OSError:
        missing.append(OPENMP)
    missing += [row for row in programs if shutil.which(row[0]) is None]
    if programs is BUILDERS and not has_python_library():
        missing.append(python_library())
    if find_uv() is None and importlib.util.find_spec("pip") is None:
        missing.append(("pip", "python3-pip", "python3-pip"))
    if not missing:
        return
    if shutil.which("apt-get") is None:
        say("Missing on this system: " + ", ".join(part for part, _, _ in missing))
        say(f"Install it with:\n\n    {known.install_command(missing)}\n")
        raise SystemExit(MISSING_SYSTEM_PARTS)
    packages = [package for _, package, _ in missing]
    install = "apt-get install -y --no-install-recommends " + " ".join(packages)
    if os.geteuid() == 0:
        prefix: list[str] = []
    elif shutil.which("sudo") and (sys.stdin.isatty() or quiet(["sudo", "-n", "true"])):
        prefix = ["sudo"]
    else:
        say("This system lacks libraries that Moot needs. Run this as root:\n")
        print(f"    apt-get update && {install}\n", flush=True)
        raise SystemExit(MISSING_SYSTEM_PARTS)
    say("installing from the system's packages: " + " ".join(packages))
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    run([*prefix, "apt-get", "update", "-qq"], environment)
    run([*prefix, *install.split(), "-qq", "-o", "Dpkg::Use-Pty=0"], environment, show=False)


def python_library() -> tuple[str, str, str]:
    """Return Python's shared library, which builds include, and its packages of Debian and Fedora."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (f"libpython{version}.so.1.0", f"libpython{version}", "python3-libs")


def has_python_library() -> bool:
    """Return whether Python's shared library exists, beside this Python or among the system's libraries."""
    name = python_library()[0]
    try:
        ctypes.CDLL(name)
    except OSError:
        return (Path(sysconfig.get_config_var("LIBDIR") or "") / name).is_file()
    return True


# The environment -----------------------------------------------------------------------------


def find_uv() -> str | None:
    """Return the path of uv: from PATH, or the one that this script downloaded."""
    if os.environ.get("MOOT_NO_UV"):
        return None
    folders = [TOOLS / "bin", TOOLS / "Scripts"]
    return shutil.which("uv") or shutil.which("uv", path=os.pathsep.join(map(str, folders)))


def fetch_uv() -> str | None:
    """Return uv, downloaded into the checkout if necessary; None if pip must be used."""
    if (found := find_uv()) or os.environ.get("MOOT_NO_UV"):
        return found
    say("downloading uv into .tools")
    # `--target` works where Debian refuses to install into its own Python (PEP 668).
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--require-hashes"]
    done = subprocess.run(
        [*command, "--target", TOOLS, "-r", BOOTSTRAP], env=environment_with({}), check=False
    )
    return find_uv() if done.returncode == 0 else None


def make_environment() -> None:
    """Make .venv contain exactly the packages of requirements.lock, and Moot from this checkout."""
    wanted = fingerprint()
    if PYTHON.exists() and STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted:
        return
    uv = fetch_uv()
    webui = has_webui()
    say(f"creating the environment with {'uv' if uv else 'pip'}")
    python = str(PYTHON)
    if not PYTHON.exists():
        # Without pip: Debian's Python has no ensurepip, and the outer pip can install into it.
        run([sys.executable, "-m", "venv", "--without-pip", "--clear", VENV])
    if uv:
        run([uv, "pip", "sync", "-q", "--python", python, "--require-hashes", LOCK])
        editable = [uv, "pip", "install", "-q", "--python", python]
    else:
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
        run([*pip, "--no-deps", "--require-hashes", "-r", LOCK])
        editable = pip
    # The build backend is in the lock too, so nothing is downloaded without a hash.
    run([*editable, "--no-deps", "--no-build-isolation", "-e", ROOT])
    if webui:
        add_webui()
    STAMP.write_text(wanted, encoding="utf-8")
    say("the environment is ready")


def has_webui() -> bool:
    """Return whether the environment has the extra that shows the pages of MCP servers."""
    # The installed part of Qt contains the type stubs of this one too.
    return any(path.suffix != ".pyi" for path in VENV.glob("[Ll]ib/**/PySide6/QtWebEngineCore.*"))


def add_webui() -> None:
    """Add the extra `webui`, which shows the pages of MCP servers, to the environment."""
    uv = find_uv()
    say("downloading the support for web pages (175 MB)")
    pip = [uv, "pip", "install"] if uv else [sys.executable, "-m", "pip"]
    python = ["--python", str(PYTHON)]
    command = [*pip, *python] if uv else [*pip, *python, "install"]
    run([*command, "-q", "--no-deps", "--require-hashes", "-r", WEBUI])


def fetch_builder() -> None:
    """Download PyInstaller into .tools, because the environment contains only what requirements.lock
    lists.
    """
    target = TOOLS / "bundle"
    if (target / "bundle.lock").is_file() and (target / "bundle.lock").read_bytes() == BUNDLE.read_bytes():
        return
    say("downloading the build tools into .tools")
    shutil.rmtree(target, ignore_errors=True)
    uv = find_uv()
    install = [uv, "pip", "install", "--python", PYTHON] if uv else [sys.executable, "-m", "pip", "install"]
    run([*install, "-q", "--no-deps", "--require-hashes", "--target", target, "-r", BUNDLE])
    shutil.copyfile(BUNDLE, target / "bundle.lock")


def fingerprint() -> str:
    """Return a hash of everything that the environment depends on."""
    digest = hashlib.sha256(str(ROOT).encode())
    for path in (LOCK, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def fetch_model() -> None:
    """Download the built-in model into .model; without it Moot needs a provider."""
    if os.environ.get("MOOT_NO_MODEL"):
        return
    model_file = load_by_path(ROOT / "app" / "providers" / "model_file.py")
    if (ROOT / ".model" / model_file.FILE_NAME).is_file() or os.environ.get("MOOT_MODEL"):
        return
    say("downloading the built-in model (98 MB)")
    try:
        model_file.fetch_model(ROOT / ".model")
    except model_file.PackageError as error:
        say(f"WARNING: the model could not be fetched: {error}")
        say("Moot works without it if you add a provider. The next start tries again.")


def load_by_path(path: Path) -> ModuleType:
    """Import one file of the program without its package, which needs the environment.

    Its own imports are found in the checkout.
    """
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_locks() -> None:
    """Write the lock files from pyproject.toml: requirements.lock, and in packaging/ those of uv, `webui` and
    builds.
    """
    uv = find_uv()
    if uv is None:
        raise SystemExit("dev.py lock needs uv on PATH")
    options = ["--universal", "--generate-hashes", "--no-emit-index-url", "--no-annotate", "--no-header"]
    options += ["--python-version", "3.11", "-q"]
    groups = [word for group in ("test", "lint", "build") for word in ("--group", group)]
    run([uv, "pip", "compile", "pyproject.toml", *groups, *options, "-o", LOCK])
    version = subprocess.run([uv, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    source = ROOT / "build" / "bootstrap.in"
    source.parent.mkdir(exist_ok=True)
    source.write_text(f"uv=={version}\n", encoding="utf-8")
    run([uv, "pip", "compile", source, *options, "-o", BOOTSTRAP])
    qt = re.search(r"^pyside6-essentials==(\S+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert qt is not None
    source = ROOT / "build" / "webui.in"
    source.write_text(f"pyside6-addons=={qt[1]}\n", encoding="utf-8")
    run([uv, "pip", "compile", source, "--no-deps", *options, "-o", WEBUI])
    run([uv, "pip", "compile", "--group", "bundle", "--constraints", LOCK, *options, "-o", BUNDLE])
    for path in (LOCK, BOOTSTRAP, WEBUI, BUNDLE):
        if re.search(r"https?://|^--", path.read_text(encoding="utf-8"), re.MULTILINE):
            raise SystemExit(f"{path.name} names an index; it must hold names, versions and hashes only")


# Running -------------------------------------------------------------------------------------


def run_moot(arguments: Sequence[str], virtual_screen: bool) -> int:
    """Run the program until it ends; return its exit status."""
    command = [PYTHON, "-m", "app", *arguments]
    if not virtual_screen:
        if wants_window(arguments):
            say("opening Moot")
        return call(command)
    read_end, write_end = os.pipe()
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    try:
        with os.fdopen(read_end, encoding="ascii") as pipe:
            display = pipe.readline().strip()
        if not display:
            say("Xvfb did not start.")
            return 1
        say(f"no screen found: opening Moot on a virtual one, DISPLAY=:{display}")
        return call(command, {"DISPLAY": f":{display}"})
    finally:
        screen.terminate()
        screen.wait()


def run_tests(*, long: bool) -> int:
    """Run the short or the long tests on every core; return the exit status.

    The tests use real processes and clocks, so a busy computer can make one fail. Failed tests are run once
    more, alone. Those that pass then are flaky: they are printed, counted in build/flaky.txt, and fail the
    run unless tests/known_flaky.txt lists them.
    """
    environment = {"PYTHONWARNDEFAULTENCODING": "1"}
    if long:
        environment["MOOT_TIMES"] = os.environ.get("MOOT_TIMES", "4")
    pytest = [PYTHON, "-m", "pytest", "-m", LONG_TESTS if long else "not slow"]
    status = call(
        [*pytest, "-n", str(workers(long=long)), "--dist", "worksteal", "--failed-first"], environment
    )
    if status != TESTS_FAILED:
        return status
    failed = failed_tests()
    say("running the failed tests once more, one at a time")
    status = call([*pytest, "--last-failed", "--last-failed-no-failures", "none"], environment)
    unknown = note_flaky(failed - failed_tests())
    return status or (TESTS_FAILED if unknown else 0)


def workers(*, long: bool) -> int:
    """Return how many tests run at once: they wait for processes and clocks, so more of them
    than there are cores.

    Each worker collects all tests for itself, so not many more where the tests are short.
    """
    cores = os.cpu_count() or 1
    return 2 * cores if long else cores + (cores + 1) // 2


def failed_tests() -> set[str]:
    """Return the tests that failed when they ran last."""
    kept = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
    return set(json.loads(kept.read_text(encoding="utf-8"))) if kept.is_file() else set()


def note_flaky(tests: Iterable[str]) -> list[str]:
    """Print and count the tests that passed on the second try; return those that are not known to be
    flaky.
    """
    kept = ROOT / "build" / "flaky.txt"
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.is_file() else []
    counts = Counter({test: int(count) for count, test in (line.split(" ", 1) for line in lines)})
    known = known_flaky()
    unknown = []
    for test in sorted(tests):
        counts[test] += 1
        said = "known" if test in known else "not in tests/known_flaky.txt, so the run fails"
        say(f"flaky ({counts[test]} times so far; {said}): {test}")
        if test not in known:
            unknown.append(test)
    kept.parent.mkdir(exist_ok=True)
    text = "".join(f"{count} {test}\n" for test, count in counts.most_common())
    kept.write_text(text, encoding="utf-8")
    return unknown


def known_flaky() -> set[str]:
    """Return the tests that are known to pass on their second try only; a line that begins
    with # is a remark.
    """
    lines = (ROOT / "tests" / "known_flaky.txt").read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def environment_with(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the variables that keep pip and uv quiet."""
    quieter = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    quieter |= {"UV_LINK_MODE": os.environ.get("UV_LINK_MODE", "copy"), "UV_PYTHON_DOWNLOADS": "never"}
    return {**os.environ, **quieter, **extra}


def run(command: Sequence[str | Path], extra: Mapping[str, str] | None = None, *, show: bool = True) -> None:
    """Run a command; its standard error is always shown. Raises CalledProcessError."""
    output = None if show else subprocess.DEVNULL
    subprocess.run(list(map(str, command)), env=environment_with(extra or {}), stdout=output, check=True)


def call(command: Sequence[str | Path], extra: Mapping[str, str] | None = None) -> int:
    """Run a program in the foreground, which handles Ctrl-C and SIGTERM itself."""
    environment = {**os.environ, **(extra or {})}
    # Without bytecode files every child process would start seconds later.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(list(map(str, command)), env=environment)
    signal.signal(signal.SIGTERM, lambda _number, _frame: process.terminate())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the terminal sent it to the program too; wait for its end


def quiet(command: Sequence[str]) -> bool:
    """Return whether a command succeeds, without showing its output."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def say(text: str) -> None:
    """Print a line with the seconds since the start."""
    print(f"moot [{time.monotonic() - STARTED:3.0f} s] {text}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
