"""A desktop's settings portal on the session bus, with settings of the test's choice.

Run as a process by the tests: takes one JSON line `[namespace, key, type, value]` for each setting on
standard input, answers it with an empty line, and tells everybody who listens.
"""

import json
import sys
import threading

from jeepney import DBusAddress, HeaderFields, MessageType, message_bus, new_method_return, new_signal
from jeepney.io.threading import open_dbus_connection

NAME = "org.freedesktop.portal.Desktop"
ADDRESS = DBusAddress("/org/freedesktop/portal/desktop", interface="org.freedesktop.portal.Settings")
SETTINGS: dict[tuple[str, str], tuple[str, object]] = {}


def main() -> None:
    """Serve until the bus is gone."""
    connection = open_dbus_connection("SESSION")
    connection.send(message_bus.RequestName(NAME))
    threading.Thread(target=change, args=(connection,), daemon=True).start()
    while True:
        call = connection.receive()
        if call.header.message_type is MessageType.method_call:
            if (
                HeaderFields.member in call.header.fields
                and call.header.fields[HeaderFields.member] == "Read"
            ):
                value = SETTINGS.get((call.body[0], call.body[1]), ("s", ""))
                # `Read` wraps its value twice, as the portal does.
                connection.send(new_method_return(call, "v", (("v", value),)))
            else:
                connection.send(new_method_return(call))


def change(connection) -> None:  # type: ignore[no-untyped-def]
    """Take over the settings that come in and signal each."""
    for line in sys.stdin:
        namespace, key, kind, value = json.loads(line)
        SETTINGS[namespace, key] = (kind, value)
        connection.send(new_signal(ADDRESS, "SettingChanged", "ssv", (namespace, key, (kind, value))))
        print(flush=True)


if __name__ == "__main__":
    main()
