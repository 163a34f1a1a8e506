"""A desktop's notification service on the session bus: prints what it is told, clicks what it is told to.

Run as a process by the tests: one JSON line for each notification; a number on standard input clicks it.
"""

import json
import os
import sys
import threading

from jeepney import DBusAddress, MessageType, message_bus, new_method_return, new_signal
from jeepney.io.blocking import Proxy, open_dbus_connection

NAME = "org.freedesktop.Notifications"
ADDRESS = DBusAddress("/org/freedesktop/Notifications", interface=NAME)
MEMBER = 3


def main() -> None:
    """Serve until the bus is gone."""
    connection = open_dbus_connection("SESSION")
    Proxy(message_bus, connection).RequestName(NAME)
    print("ready", flush=True)
    threading.Thread(target=click, args=(connection,), daemon=True).start()
    number = 0
    while True:
        call = connection.receive()
        if call.header.message_type is not MessageType.method_call:
            continue
        member = call.header.fields[MEMBER]
        if member == "GetCapabilities":
            capabilities = os.environ.get("CAPABILITIES", "body").split(",")
            connection.send(new_method_return(call, "as", (capabilities,)))
        elif member == "Notify":
            _app, replaced, _icon, title, body, actions, _hints, _timeout = call.body
            number = replaced or number + 1
            connection.send(new_method_return(call, "u", (number,)))
            line = {"number": number, "replaced": replaced, "title": title, "body": body, "actions": actions}
            print(json.dumps(line), flush=True)


def click(connection) -> None:  # type: ignore[no-untyped-def]
    """Say that the notifications whose numbers come in were clicked."""
    for line in sys.stdin:
        connection.send(new_signal(ADDRESS, "ActionInvoked", "us", (int(line), "default")))


if __name__ == "__main__":
    main()
