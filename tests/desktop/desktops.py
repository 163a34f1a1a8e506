"""A desktop of its own: a session bus, an X server, a keyring; what is started here ends with the test."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from jeepney import DBusAddress, MessageType, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, Proxy, open_dbus_connection

BUS_ADDRESS = "DBUS_SESSION_BUS_ADDRESS"
SECRETS = "org.freedesktop.secrets"
PASSWORD = "a good password"
PROMPTER = Path("/usr/libexec/gcr-prompter")
PATIENCE_S = 40.0
CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir={folder}</listen><auth>EXTERNAL</auth>
<servicedir>{folder}/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>"""
Found = TypeVar("Found")


def missing(*programs: str) -> str:
    """Return why a test cannot run here, "" where all programs, and files with a whole path, are there."""
    lacking = [name for name in programs if shutil.which(name) is None and not Path(name).is_absolute()]
    lacking += [name for name in programs if Path(name).is_absolute() and not Path(name).exists()]
    return f"needs {', '.join(lacking)}: install tests/desktop/packages.txt" if lacking else ""


def wait(look: Callable[[], Found], what: str, seconds: float = PATIENCE_S) -> Found:
    """Return what `look` finds, once it is something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


class Desktop:
    """What runs on this desktop gets its `environment`; leaving the block ends everything."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        # Short: the path of a socket has about a hundred characters.
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="moot-desk-")))
        kept_out = (
            "PYTHON_KEYRING_BACKEND",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "XMODIFIERS",
            "QT_IM_MODULES",
            "QT_IM_MODULE",
        )
        self.environment = {name: value for name, value in os.environ.items() if name not in kept_out}
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "HOME"):
            place = self.folder / name.lower()
            place.mkdir(mode=0o700)
            self.environment[name] = str(place)
        (self.folder / "services").mkdir()

    def start(self, *command: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a program of the desktop."""
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
        process = subprocess.Popen(command, env=self.environment, **options)
        self._stack.callback(end, process)
        return process

    def run(self, *command: str, given: str = "") -> str:
        """Run a program to its end and return what it printed."""
        done = subprocess.run(
            command,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout

    def start_screen(self, size: str = "1440x900x24") -> subprocess.Popen[bytes]:
        """Start an X server without a window manager."""
        told, far = os.pipe()
        process = self.start(
            "Xvfb", "-displayfd", str(far), "-screen", "0", size, "-nolisten", "tcp", pass_fds=[far]
        )
        os.close(far)
        with os.fdopen(told) as lines:
            self.environment["DISPLAY"] = f":{lines.readline().strip()}"
        return process

    def start_bus(self, **services: str) -> None:
        """Start a session bus; it starts these services, name and command, when they are asked for."""
        for name, command in services.items():
            text = f"[D-BUS Service]\nName={name}\nExec={command}\n"
            (self.folder / "services" / f"{name}.service").write_text(text)
        configuration = self.folder / "bus.conf"
        configuration.write_text(CONFIGURATION.format(folder=self.folder))
        process = self.start(
            "dbus-daemon", "--config-file", str(configuration), "--nofork", "--print-address=1",
            stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        self.environment[BUS_ADDRESS] = process.stdout.readline().decode().strip()
        process.stdout.close()

    @contextlib.contextmanager
    def connection(self) -> Iterator[DBusConnection]:
        """Give a connection to the session bus."""
        with contextlib.closing(open_dbus_connection(self.environment[BUS_ADDRESS])) as connection:
            yield connection

    def has_name(self, name: str) -> bool:
        """Say whether somebody has a name on the session bus."""
        with self.connection() as connection:
            return bool(Proxy(message_bus, connection).NameHasOwner(name)[0])

    def ask(
        self, place: tuple[str, str, str], member: str, kinds: str = "", values: tuple[object, ...] = ()
    ) -> Any:
        """Return what a method (bus name, path, interface) answers; nothing where it refuses."""
        name, path, interface = place
        with self.connection() as connection:
            call = new_method_call(DBusAddress(path, name, interface), member, kinds or None, values)
            reply = connection.send_and_get_reply(call, timeout=10)
        return None if reply.header.message_type is MessageType.error else reply.body

    def keys(self, *keys: str) -> None:
        """Press these keys, by their names in X."""
        self.run("xdotool", "key", "--clearmodifiers", "--delay", "60", *keys)

    def write(self, text: str) -> None:
        """Type a text."""
        self.run("xdotool", "type", "--delay", "60", text)


class Keyring:
    """A real gnome-keyring on a desktop's bus."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, unlocked: bool = False) -> None:
        """Start it anew; unlocked, there is a default keyring."""
        self.kill()
        given = ("--unlock",) if unlocked else ()
        process = self._desktop.start(
            "gnome-keyring-daemon", "--foreground", "--components=secrets", *given, stdin=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(PASSWORD.encode() if unlocked else b"")
        process.stdin.close()
        self._process = process
        wait(lambda: self._desktop.has_name(SECRETS), "the keyring")

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            wait(lambda: not self._desktop.has_name(SECRETS), "the end of the keyring")

    def stop(self) -> None:
        """Let it not respond, until it goes on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it respond again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def collections(self) -> list[str]:
        """Return the keyrings there are, but the one of the session that is always there."""
        place = (SECRETS, "/org/freedesktop/secrets", "org.freedesktop.DBus.Properties")
        found = self._desktop.ask(place, "Get", "ss", ("org.freedesktop.Secret.Service", "Collections"))
        return [path for path in found[0][1] if not path.endswith("/session")]

    def lookup(self, user: str) -> str:
        """Return a value as another program finds it."""
        return self._desktop.run("secret-tool", "lookup", "service", "Moot", "username", user)


@contextlib.contextmanager
def desktop() -> Iterator[Desktop]:
    """Give a desktop on which nothing runs yet."""
    with contextlib.ExitStack() as stack:
        yield Desktop(stack)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that may be stopped."""
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
