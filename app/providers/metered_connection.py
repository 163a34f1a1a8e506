"""Whether the computer's connection to the internet is metered: NetworkManager knows, on Linux."""

import asyncio
import contextlib
import sys

_ANSWER_S = 2.0
_NAME, _PATH = "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager"
# Yes, and "probably", of https://networkmanager.dev/docs/api/latest/nm-dbus-types.html#NMMetered.
_METERED = (1, 3)


async def is_metered() -> bool:
    """Return whether every megabyte may cost something; False where nobody knows."""
    if not sys.platform.startswith("linux"):
        return False
    with contextlib.suppress(ImportError, OSError, KeyError, ValueError, TimeoutError):
        async with asyncio.timeout(_ANSWER_S):
            return await _ask() in _METERED
    return False


async def _ask() -> int:
    """Return NetworkManager's word for it, 0 where it has none. Raises OSError."""
    from jeepney import DBusAddress, MessageType, Properties  # type: ignore[import-untyped]
    from jeepney.io.asyncio import open_dbus_router  # type: ignore[import-untyped]

    async with open_dbus_router("SYSTEM") as router:
        call = Properties(DBusAddress(_PATH, bus_name=_NAME, interface=_NAME)).get("Metered")
        answer = await router.send_and_get_reply(call)
    if answer.header.message_type is not MessageType.method_return:
        return 0
    return int(answer.body[0][1])
