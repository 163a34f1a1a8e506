"""The commands and environments of Moot's own child programs, in a checkout and in a frozen build."""

import ctypes
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

MODEL_HOST = "app.providers.model_host"
EMBEDDED_SERVER = "app.providers.embedded_server"
TOOL_HOST = "app.tools.tool_host"
AGENT_HOST = "app.providers.agent_host"
FILE_READER = "app.files.file_reader"
MODEL_FETCH = "app.providers.model_fetch"

_PROJECT = Path(__file__).resolve().parents[2]
_PARENT_VARIABLE = "MOOT_PARENT"
_PR_SET_PDEATHSIG = 1

# The environment variables that a program of the user gets. No other variable reaches a child process, because
# tokens and passwords are kept in variables too. app/README.md repeats the list; a test compares them.
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
    """Return the user's whole environment with what was chosen in the settings, for programs that are set up there."""
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
    """Return the command that runs MODEL_HOST, EMBEDDED_SERVER, TOOL_HOST, AGENT_HOST, FILE_READER or MODEL_FETCH."""
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
