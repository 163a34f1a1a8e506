"""The icon beside the clock of the real program, on a desktop that shows such icons over D-Bus."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    message_bus,
    new_method_call,
    new_method_return,
)
from jeepney.io.blocking import DBusConnection, Proxy, open_dbus_connection

from tests.screen_reader import ask, desktop, missing, wait
from tests.stories.processes import Running

WATCHER = "org.kde.StatusNotifierWatcher"
ITEM = ("/StatusNotifierItem", "org.kde.StatusNotifierItem")
PROPERTIES = "org.freedesktop.DBus.Properties"
MENU = "com.canonical.dbusmenu"
DESCRIPTION = f"""<node><interface name="{WATCHER}">
<method name="RegisterStatusNotifierItem"><arg type="s" direction="in"/></method>
<property name="IsStatusNotifierHostRegistered" type="b" access="read"/>
</interface></node>"""
pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]


@contextmanager
def watcher(address: str) -> Iterator[list[str]]:
    """Be the desktop's end; yield the list of those who brought an icon."""
    connection = open_dbus_connection(address)
    brought: list[str] = []
    Proxy(message_bus, connection).RequestName(WATCHER)

    def serve() -> None:
        while True:
            try:
                call = connection.receive()
            except (OSError, EOFError):
                return
            if call.header.message_type is not MessageType.method_call:
                continue
            match call.header.fields[HeaderFields.member]:
                case "Introspect":
                    answer = new_method_return(call, "s", (DESCRIPTION,))
                case "Get":
                    answer = new_method_return(call, "v", (("b", True),))
                case "GetAll":
                    answer = new_method_return(
                        call, "a{sv}", ({"IsStatusNotifierHostRegistered": ("b", True)},)
                    )
                case _:
                    brought.append(call.header.fields[HeaderFields.sender])
                    answer = new_method_return(call)
            connection.send(answer)

    serving = threading.Thread(target=serve)
    serving.start()
    try:
        yield brought
    finally:
        connection.sock.shutdown(2)
        serving.join()
        connection.close()


def entries(connection: DBusConnection, owner: str) -> tuple[str, dict[str, int]]:
    """Return where the icon's menu is, and the number of each entry by its words."""
    path = ask(connection, (owner, ITEM[0], PROPERTIES), "Get", "ss", (ITEM[1], "Menu"))[1]
    address = (owner, path, MENU)
    ask(connection, address, "AboutToShow", "i", (0,))
    reply = _layout(connection, address)
    return path, {str(one[1]["label"][1]): one[0] for _, one in reply[2] if "label" in one[1]}


def _layout(connection: DBusConnection, address: tuple[str, str, str]) -> Any:
    owner, path, interface = address
    call = new_method_call(
        DBusAddress(path, bus_name=owner, interface=interface), "GetLayout", "iias", (0, -1, [])
    )
    return connection.send_and_get_reply(call, timeout=10).body[1]


def test_the_icon_is_beside_the_clock_and_its_menu_quits(data_dir: Path) -> None:
    data_dir.mkdir()
    (data_dir / "settings.json").write_text(json.dumps({"version": 1, "tray": True}), encoding="utf-8")
    with desktop() as (_, environment):
        address = environment["DBUS_SESSION_BUS_ADDRESS"]
        with watcher(address) as brought, Running("--lang", "en", environment=environment) as running:
            owner = wait(lambda: next(iter(brought), ""), "an icon")
            connection = open_dbus_connection(address)
            try:
                tip = ask(connection, (owner, ITEM[0], PROPERTIES), "Get", "ss", (ITEM[1], "ToolTip"))
                assert "Moot" in str(tip)
                path, menu = entries(connection, owner)
                assert list(menu) == ["Open Moot", "New chat", "Quick chat", "New decision", "Quit"]
                event = (menu["Quit"], "clicked", ("s", ""), 0)
                ask(connection, (owner, path, MENU), "Event", "isvu", event)
            finally:
                connection.close()
            assert running.finish(60).status == 0
