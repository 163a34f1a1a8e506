"""A desktop of its own with a screen reader's ears: a screen, a session bus and the accessibility bus.

What runs on it is read and driven as assistive software does, over D-Bus. Used by the accessibility test.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jeepney import DBusAddress, MatchRule, MessageType, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

LAUNCHER = Path("/usr/libexec/at-spi-bus-launcher")
NEEDED = ("Xvfb", "dbus-daemon")
PACKAGES = "xvfb, dbus and at-spi2-core"
ACCESSIBLE = "org.a11y.atspi.Accessible"
COMPONENT = "org.a11y.atspi.Component"
PATIENCE_S = 40.0
# Bits of the state, in the order of the protocol.
STATES = {
    "checked": 4,
    "collapsed": 5,
    "enabled": 8,
    "expandable": 9,
    "expanded": 10,
    "focusable": 11,
    "focused": 12,
    "selected": 23,
    "showing": 25,
}
Found = TypeVar("Found")


def missing() -> str:
    """Return what this machine lacks for it, nothing where it has all."""
    lacks = [name for name in NEEDED if shutil.which(name) is None]
    lacks += [] if LAUNCHER.exists() else [LAUNCHER.name]
    return f"needs {', '.join(lacks)}: install {PACKAGES}" if lacks else ""


def wait(look: Callable[[], Found], what: str, seconds: float = PATIENCE_S) -> Found:
    """Return what `look` finds, once it is something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(Gone):
            if found := look():
                return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


class Gone(Exception):
    """Nobody answers at an address, or it answers with an error."""


@dataclass(frozen=True)
class Node:
    """One thing a program shows, as assistive software has it."""

    bus: "Bus"
    owner: str
    path: str

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.bus.get(self, ACCESSIBLE, "Name"))

    @property
    def role(self) -> str:
        """What it is, in words of the protocol."""
        return str(self.bus.call(self, ACCESSIBLE, "GetRoleName"))

    @property
    def states(self) -> set[str]:
        """What holds of it, of `STATES`."""
        low, _high = self.bus.call(self, ACCESSIBLE, "GetState")
        return {name for name, bit in STATES.items() if low >> bit & 1}

    @property
    def children(self) -> list["Node"]:
        """What is in it."""
        return [Node(self.bus, *place) for place in self.bus.call(self, ACCESSIBLE, "GetChildren")]

    def all(self) -> Iterator["Node"]:
        """Yield it and everything in it."""
        yield self
        for child in self.children:
            yield from child.all()

    def find(self, role: str, name: str) -> "Node":
        """Return what is called so, once it is on the screen and can be used."""

        def look() -> "Node | None":
            alike = (one for one in self.all() if one.role == role and one.name.startswith(name))
            return next((one for one in alike if {"enabled", "showing"} <= one.states), None)

        found = wait(look, f"{role} {name}")
        assert found is not None
        return found

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Where it is on the screen: left, top, width, height."""
        left, top, width, height = self.bus.call(self, COMPONENT, "GetExtents", "u", (0,))
        return left, top, width, height

    @property
    def text(self) -> str:
        """What is written in it."""
        return str(self.bus.call(self, "org.a11y.atspi.Text", "GetText", "ii", (0, -1)))

    @property
    def parent(self) -> "Node":
        """What it is in."""
        return Node(self.bus, *self.bus.get(self, ACCESSIBLE, "Parent"))

    def clips(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the places of what it is in, up to its window."""
        node = self.parent
        while node.role != "application":
            yield node.place
            node = node.parent

    def seen(self) -> Iterator["Node"]:
        """Yield it and everything in it that is on the screen."""
        for child in self.children:
            if "showing" in child.states:
                yield child
                yield from child.seen()

    def press(self) -> None:
        """Do what a click does."""
        self.bus.call(self, "org.a11y.atspi.Action", "DoAction", "i", (0,))

    def focus(self) -> None:
        """Give it the keyboard."""
        self.bus.call(self, COMPONENT, "GrabFocus")

    def write(self, text: str) -> None:
        """Put text into it."""
        self.bus.call(self, "org.a11y.atspi.EditableText", "SetTextContents", "s", (text,))


class Bus:
    """The accessibility bus: asks what is there, and hears what is announced."""

    def __init__(self, address: str) -> None:
        self._connection = open_dbus_connection(address)
        self._heard: deque[Any] = deque()
        rule = MatchRule(type="signal", interface="org.a11y.atspi.Event.Object")
        self._connection.send_and_get_reply(message_bus.AddMatch(rule))
        self._filter = self._connection.filter(rule, queue=self._heard)
        self.desktop = Node(self, "org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        # While the bus comes up, the first registry may end and give way to a second one, which knows no events.
        wait(self._register, "the registry")

    def _register(self) -> bool:
        registry = Node(self, self.desktop.owner, "/org/a11y/atspi/registry")
        for event in ("object:announcement", "object:state-changed:focused", "object:state-changed:showing"):
            self.call(registry, "org.a11y.atspi.Registry", "RegisterEvent", "s", (event,))
        return True

    def call(
        self, node: Node, interface: str, member: str, kinds: str = "", values: tuple[Any, ...] = ()
    ) -> Any:
        """Ask a node; raises Gone where it does not answer."""
        return ask(self._connection, (node.owner, node.path, interface), member, kinds, values)

    def get(self, node: Node, interface: str, name: str) -> Any:
        """Return a property of a node."""
        return self.call(node, "org.freedesktop.DBus.Properties", "Get", "ss", (interface, name))[1]

    def announced(self, seconds: float = 0.2) -> list[str]:
        """Return everything that was announced so far."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                self._connection.recv_messages(timeout=left)
        return [str(one.body[3][1]) for one in self._heard if one.header.fields.get(3) == "Announcement"]

    def focused(self) -> Node | None:
        """Return what got the keyboard last."""
        self.announced(0.02)
        return next(self._told("focused"), None)

    def windows(self) -> list[Node]:
        """Return the open windows of all programs, the newest last."""
        return [window for program in self.desktop.children for window in program.children]

    def popups(self) -> list[Node]:
        """Return the open menus and lists over the windows, the newest first: a program does not list them."""
        self.announced(0.02)
        shown = dict.fromkeys(self._told("showing"))
        found = []
        for node in shown:
            with contextlib.suppress(Gone):
                if "showing" in node.states and (
                    node.role == "popup menu" or node.parent.role == "application"
                ):
                    found.append(node)
        windows = self.windows()
        return [node for node in found if node not in windows]

    def _told(self, state: str) -> Iterator[Node]:
        """Yield what got into a state, the latest first."""
        for one in reversed(self._heard):
            if one.header.fields.get(3) == "StateChanged" and one.body[:2] == (state, 1):
                yield Node(self, str(one.header.fields[7]), str(one.header.fields[1]))

    def close(self) -> None:
        """Hang up."""
        self._filter.close()
        self._connection.close()


def ask(
    connection: DBusConnection, place: tuple[str, str, str], member: str, kinds: str, values: tuple[Any, ...]
) -> Any:
    """Return the first value of an answer from (owner, path, interface); raises Gone where there is none."""
    owner, path, interface = place
    address = DBusAddress(path, bus_name=owner, interface=interface)
    try:
        reply = connection.send_and_get_reply(
            new_method_call(address, member, kinds or None, values), timeout=10
        )
    except TimeoutError as error:
        raise Gone(f"{owner} {path} {member}") from error
    if reply.header.message_type == MessageType.error:
        raise Gone(f"{owner} {path} {member}: {reply.body}")
    return reply.body[0] if reply.body else None


@contextlib.contextmanager
def desktop(*manager: str, size: str = "1440x900") -> Iterator[tuple[Bus, dict[str, str]]]:
    """Start screen, window manager and buses; yield the accessibility bus and the environment of what runs there."""
    with contextlib.ExitStack() as stack:
        runtime = stack.enter_context(tempfile.TemporaryDirectory(prefix="moot-bus-"))
        environment = {
            "XDG_RUNTIME_DIR": runtime, "QT_QPA_PLATFORM": "xcb", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"
        }  # fmt: skip

        def start(*command: str, **options: Any) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                command, env=os.environ | environment, text=True, stderr=subprocess.DEVNULL, **options
            )
            stack.callback(_end, process)
            return process

        screen, far = os.pipe()
        start(
            "Xvfb", "-displayfd", str(far), "-screen", "0", f"{size}x24", "-nolisten", "tcp", pass_fds=[far]
        )
        os.close(far)
        with os.fdopen(screen) as told:
            environment["DISPLAY"] = f":{told.readline().strip()}"
        if manager:
            _start_manager(lambda: start(*manager))
        daemon = start(
            "dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", stdout=subprocess.PIPE
        )
        assert daemon.stdout is not None
        environment["DBUS_SESSION_BUS_ADDRESS"] = address = daemon.stdout.readline().strip()
        stack.callback(daemon.stdout.close)
        start(str(LAUNCHER), "--launch-immediately")
        session = open_dbus_connection(address)
        stack.callback(session.close)
        place = ("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus")
        accessible = wait(lambda: ask(session, place, "GetAddress", "", ()), "the accessibility bus")
        properties = (*place[:2], "org.freedesktop.DBus.Properties")
        ask(session, properties, "Set", "ssv", ("org.a11y.Status", "IsEnabled", ("b", True)))
        bus = Bus(accessible)
        stack.callback(bus.close)
        yield bus, environment


def _start_manager(start: Callable[[], subprocess.Popen[str]]) -> None:
    """Start a window manager, again where it ended at once: on a busy computer the screen may not let it in yet."""
    for _ in range(5):
        try:
            start().wait(1)
        except subprocess.TimeoutExpired:
            return
    raise AssertionError("the window manager ends at once")


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
