"""A user of the real program on a real screen: sees what a screen reader is told, acts with mouse or keyboard alone.

Both do the same things by the same words, so that one story is told to either.
"""

import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from tests.screen_reader import Bus, Gone, Node, wait

STOPS = 120  # at most so many presses of a key until what is looked for has the keyboard
ROWS = ("list item", "menu item", "check menu item", "radio menu item", "table cell", "tree item")
FIELDS = ("text", "password text", "spin button")


class User(ABC):
    """Somebody before the screen; `bus` are the eyes, what is in `environment` leads to the screen."""

    def __init__(self, bus: Bus, environment: dict[str, str]) -> None:
        self.bus = bus
        self._environment = environment

    def sees(self, name: str, *roles: str, inside: str = "") -> Node | None:
        """Return what can be used on the screen under a name, or one that begins so, the newest window first.

        With `inside`, the name of something that it is in.
        """
        begins: Node | None = None
        for node in self._shown(inside):
            called = node.name
            if called.startswith(name) and (not roles or node.role in roles) and "enabled" in node.states:
                if called == name:
                    return node
                begins = begins or node
        return begins

    def finds(self, name: str, *roles: str, inside: str = "", seconds: float = 40.0) -> Node:
        """Wait until something of that name can be seen and used."""
        found = wait(lambda: self.sees(name, *roles, inside=inside), f"{name} {roles}", seconds)
        assert found is not None
        return found

    def reads(self, text: str, seconds: float = 40.0) -> str:
        """Wait until a text is on the screen; return the whole of what has it."""
        return wait(
            lambda: next((node.name for node in self._shown() if text in node.name), ""), text, seconds
        )

    def _shown(self, inside: str = "") -> Iterator[Node]:
        for window in [*self.bus.popups(), *reversed(self.bus.windows())]:
            for node in window.seen():
                if not inside:
                    yield node
                elif node.name == inside:
                    yield from node.seen()

    def uses(self, name: str, *roles: str, inside: str = "") -> None:
        """Press, tick, open or choose what has this name."""
        self._use(self.finds(name, *roles, inside=inside))

    def opens_menu(self, name: str, *roles: str) -> None:
        """Open the menu of what has this name."""
        self._ask(self.finds(name, *roles))

    def writes(self, name: str, text: str) -> None:
        """Put a text into the field of this name, in place of what is there."""
        self._write(self.finds(name, *FIELDS), text)

    @abstractmethod
    def _use(self, node: Node) -> None: ...

    @abstractmethod
    def _ask(self, node: Node) -> None: ...

    @abstractmethod
    def _write(self, field: Node, text: str) -> None: ...

    def _tool(self, *words: str | int) -> None:
        command = ["xdotool", *map(str, words)]
        subprocess.run(command, env=self._environment, check=True, timeout=60, stdout=subprocess.DEVNULL)

    def _copied(self, text: str, selection: str) -> None:
        """Let a text be copied in another program."""
        subprocess.run(
            ["xclip", "-selection", selection],
            env=self._environment,
            input=text.encode(),
            check=True,
            stdout=subprocess.DEVNULL,
        )


class MouseUser(User):
    """Has a mouse only: texts are pasted with its middle button."""

    def _use(self, node: Node) -> None:
        self._click(self._scrolled_to(node))

    def _ask(self, node: Node) -> None:
        self._click(self._scrolled_to(node), 3)

    def _write(self, field: Node, text: str) -> None:
        self._scrolled_to(field)
        if field.text:
            # Three clicks choose a line; what is pasted by the menu takes its place.
            self._click(field, times=3)
            self._copied(text, "clipboard")
            self._click(field, 3)
            self.uses("Paste", "menu item")
        else:
            self._copied(text, "primary")
            self._click(field, 2)

    def _click(self, node: Node, button: int = 1, times: int = 1) -> None:
        left, top, width, height = node.place
        self._tool("mousemove", left + width // 2, top + height // 2, "sleep", "0.06")
        self._tool("click", "--repeat", times, "--delay", 60, button)

    def _scrolled_to(self, node: Node) -> Node:
        """Turn the wheel until a node is inside of everything it is in."""
        for _ in range(STOPS):
            _left, top, _width, height = node.place
            middle = top + height // 2
            out = next(
                (place for place in node.clips() if not place[1] <= middle < place[1] + place[3]), None
            )
            if out is None:
                return node
            self._tool("mousemove", out[0] + out[2] // 2, out[1] + out[3] // 2)
            self._tool("click", 5 if middle > out[1] else 4)
            time.sleep(0.1)
        raise AssertionError(f"{node.name} cannot be scrolled to")


class KeyboardUser(User):
    """Has a keyboard only: goes on with Tab, and through lists and menus with the arrows."""

    visited: list[Node | None] = []

    def _use(self, node: Node) -> None:
        key = "Return" if node.role in ROWS else "space"
        self._goes_to(node)
        self.presses(key)

    def _ask(self, node: Node) -> None:
        self._goes_to(node)
        self.presses("Menu")

    def _write(self, field: Node, text: str) -> None:
        self._goes_to(field)
        self.presses("ctrl+a")
        self._tool("type", "--delay", 8, text)

    def presses(self, *keys: str) -> None:
        """Press keys, by their names in X."""
        self._tool("key", "--clearmodifiers", "--delay", 30, *keys)

    def _goes_to(self, node: Node) -> None:
        if node.role in ROWS:
            holder = node.parent
            if not self.bus.popups():
                assert self._goes("Tab", lambda: self._in(holder)), self._visited(holder)
            for key in ("Down", "Up"):
                if self._goes(key, lambda: self._has(node) or "selected" in node.states):
                    return
            raise AssertionError(self._visited(node))
        if not self._goes("Tab", lambda: self._has(node)):
            # Of buttons of which one is chosen, Tab stops at that one; the arrows lead to the others.
            assert self._goes("Tab", lambda: self._beside(node)), self._visited(node)
            for _ in range(STOPS):
                if self._has(node):
                    return
                self._presses_and_waits(self._towards(node))
            raise AssertionError(self._visited(node))

    def _goes(self, key: str, there: Callable[[], bool]) -> bool:
        """Press a key until it has led there; say whether it has before it came to a place again."""
        self.visited = []
        while not there():
            self._presses_and_waits(key)
            now = self.bus.focused()
            if now in self.visited or len(self.visited) > STOPS:
                return there()
            self.visited.append(now)
        return True

    def _presses_and_waits(self, key: str) -> None:
        before = self.bus.focused()
        self.presses(key)
        deadline = time.monotonic() + 0.5
        while self.bus.focused() == before and time.monotonic() < deadline:
            time.sleep(0.01)

    def _beside(self, node: Node) -> bool:
        focused = self.bus.focused()
        return focused is not None and focused.role == node.role and focused.parent == node.parent

    def _towards(self, node: Node) -> str:
        focused = self.bus.focused()
        assert focused is not None
        (x, y, _, _), (left, top, _, _) = focused.place, node.place
        if top != y:
            return "Down" if top > y else "Up"
        return "Right" if left > x else "Left"

    def _visited(self, node: Node) -> str:
        return f"no key leads to {described(node)}, but to {[described(one) for one in self.visited]}"

    def _has(self, node: Node) -> bool:
        focused = self.bus.focused()
        return focused == node or "focused" in node.states

    def _in(self, holder: Node) -> bool:
        focused = self.bus.focused()
        return focused is not None and holder in (focused, focused.parent)


def described(node: Node | None) -> str:
    """Return role and name of a node, for a message."""
    if node is None:
        return "nothing"
    try:
        return f"{node.role} {node.name}"
    except Gone:
        return "gone"
