"""Keys that work while another program is in front: at a portal on a real bus."""

import os
import threading
from contextlib import contextmanager

import pytest
from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    message_bus,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.io.blocking import Proxy, open_dbus_connection
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.gui.controllers.window import _key_grab
from app.gui.desktop.key_grab import NOWHERE, REFUSED, Held, pressed_of
from app.gui.desktop.portal_keys import PATH, PORTAL, REQUEST, SHORTCUTS, PortalGrab, trigger
from app.gui.desktop.windows_keys import ALT, CONTROL, SHIFT, WindowsGrab, hot_key
from app.gui.window_frame import AppWindow
from tests.app_driver import until
from tests.desktop.desktops import desktop, missing

NO_BUS = missing("dbus-daemon")
# What the screen of the tests cannot do.
pytestmark = pytest.mark.qt_log_ignore("does not support raise", extend=True)
SESSION = f"{PATH}/session/moot"


@pytest.fixture
def holder(qapp):
    holder = QObject()
    yield holder
    holder.deleteLater()


@contextmanager
def portal(address, *, allows=True, knows=True):
    """Be the desktop's portal; yield the keys that were wanted, and what presses them."""
    connection = open_dbus_connection(address)
    wanted, bound = [], threading.Event()
    Proxy(message_bus, connection).RequestName(PORTAL)

    def answer(call):
        name = call.header.fields[HeaderFields.member]
        if not knows or call.header.fields[HeaderFields.interface] != SHORTCUTS:
            connection.send(new_error(call, "org.freedesktop.DBus.Error.UnknownMethod"))
            return
        options = call.body[-1]
        sender = call.header.fields[HeaderFields.sender][1:].replace(".", "_")
        handle = f"{PATH}/request/{sender}/{options['handle_token'][1]}"
        if name == "CreateSession":
            assert options["session_handle_token"][0] == "s"
            status, results = 0, {"session_handle": ("s", SESSION)}
        else:
            assert (name, call.body[0], call.body[2]) == ("BindShortcuts", SESSION, "")
            [(shortcut, facts)] = call.body[1]
            wanted.append((shortcut, facts["description"][1], facts["preferred_trigger"][1]))
            shown = [(shortcut, {"trigger_description": ("s", "Strg+Alt+Leertaste")})]
            status, results = (0, {"shortcuts": ("a(sa{sv})", shown)}) if allows else (1, {})
        connection.send(new_method_return(call, "o", (handle,)))
        said = new_signal(DBusAddress(handle, interface=REQUEST), "Response", "ua{sv}", (status, results))
        connection.send(said)
        if name == "BindShortcuts":
            bound.set()

    def serve():
        while True:
            try:
                call = connection.receive()
            except (OSError, EOFError):
                return
            if call.header.message_type is MessageType.method_call:
                answer(call)

    def press(name="quick-chat"):
        assert bound.wait(10)
        body = (SESSION, name, 12345, {"activation_token": ("s", "front-1")})
        shortcuts = DBusAddress(PATH, interface=SHORTCUTS)
        connection.send(new_signal(shortcuts, "Activated", "osta{sv}", body))

    serving = threading.Thread(target=serve)
    serving.start()
    try:
        yield wanted, press
    finally:
        connection.sock.shutdown(2)
        serving.join()
        connection.close()


@pytest.fixture
def bus(monkeypatch):
    with desktop() as desk:
        desk.start_bus()
        address = desk.environment["DBUS_SESSION_BUS_ADDRESS"]
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield address


@pytest.mark.skipif(bool(NO_BUS), reason=NO_BUS)
async def test_the_desktop_portal_holds_the_keys_it_chooses(holder, bus, monkeypatch):
    grab, came = PortalGrab(holder), []
    grab.pressed.connect(came.append)
    assert await grab.hold("Ctrl+Alt+Space", "Quick chat") == Held(NOWHERE)
    with portal(bus) as (wanted, press):
        assert await grab.hold("Ctrl+Alt+Space", "Quick chat") == Held(shown="Strg+Alt+Leertaste")
        assert wanted == [("quick-chat", "Quick chat", "CTRL+ALT+space")]
        press("of another program")
        press()
        await until(lambda: came, 10)
        assert came == ["front-1"]
        # Qt takes it from here for the window that comes.
        monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
        window = AppWindow()
        grab.bring_forward(window)
        assert os.environ["XDG_ACTIVATION_TOKEN"] == "front-1"
        window.close()
        window.deleteLater()
        await grab.release()


@pytest.mark.skipif(bool(NO_BUS), reason=NO_BUS)
@pytest.mark.parametrize(("answers", "problem"), [({"allows": False}, REFUSED), ({"knows": False}, NOWHERE)])
async def test_a_portal_that_refuses_or_knows_no_keys_is_said(holder, bus, answers, problem):
    grab = PortalGrab(holder)
    with portal(bus, **answers):
        assert await grab.hold("Ctrl+Alt+Space", "Quick chat") == Held(problem)
    assert not grab._service.connected


@pytest.mark.parametrize(
    ("platform", "display", "kind"),
    [
        ("xcb", "", type(None)),
        ("xcb", "wayland-0", PortalGrab),
        ("wayland", "wayland-0", PortalGrab),
        ("windows", "", WindowsGrab),
        ("cocoa", "", type(None)),
    ],
)
def test_keys_are_held_by_windows_and_by_the_portal_alone(holder, monkeypatch, platform, display, kind):
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: platform)
    monkeypatch.setenv("WAYLAND_DISPLAY", display)
    assert type(_key_grab(holder)) is kind


def test_keys_as_windows_and_portals_write_them():
    assert hot_key(pressed_of("Ctrl+Alt+Space")) == (CONTROL | ALT, 0x20)
    assert hot_key(pressed_of("Ctrl+Shift+Q")) == (CONTROL | SHIFT, ord("Q"))
    assert hot_key(pressed_of("F9")) == (0, 0x78)
    assert hot_key(pressed_of("Ctrl+;"))[1] == 0
    assert trigger(pressed_of("Meta+Shift+K")) == "SHIFT+LOGO+k"
    assert trigger(pressed_of("Ctrl+PgDown")) == "CTRL+Next"
    assert trigger(pressed_of("Ctrl+,")) == ""
    assert pressed_of("") is None
