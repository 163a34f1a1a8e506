"""Which plugin of Qt's types Korean: that of ibus, where the one that is asked for is not there."""

import os
import sys
from pathlib import Path

import pytest

from app import linux as module
from app.linux import CHOICE, INSTEAD, choose_input_method, input_method

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="input methods are chosen so on Linux only")
OURS = ("compose", "ibus", "qtvirtualkeyboard")


def plugins(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / f"lib{name}platforminputcontextplugin.so").touch()
    return folder


@pytest.mark.parametrize(
    ("environment", "instead", "served"),
    [
        ({"QT_IM_MODULE": "fcitx"}, INSTEAD, True),
        ({"QT_IM_MODULE": "fcitx5", "WAYLAND_DISPLAY": "wayland-0"}, INSTEAD, True),
        ({"QT_IM_MODULES": "wayland;fcitx", "QT_IM_MODULE": "fcitx"}, "", True),
        ({"QT_IM_MODULES": "fcitx;fcitx5", "QT_IM_MODULE": "ibus"}, INSTEAD, True),
        ({"QT_IM_MODULES": "fcitx;ibus"}, "", True),
        ({"QT_IM_MODULE": "ibus", "XMODIFIERS": "@im=fcitx"}, "", True),
        ({"QT_IM_MODULE": "nimf"}, "", False),
        ({"QT_IM_MODULE": "none", "XMODIFIERS": "@im=fcitx"}, "", True),
        ({"QT_IM_MODULE": "xim", "XMODIFIERS": "@im=fcitx"}, INSTEAD, True),
        ({"QT_IM_MODULE": "xim", "XMODIFIERS": "@im=uim"}, "", True),
        ({"XMODIFIERS": "@im=ibus"}, INSTEAD, True),
        ({"XMODIFIERS": "@im=ibus", "WAYLAND_DISPLAY": "wayland-0"}, "", True),
        ({"XMODIFIERS": "@im=ibus", "WAYLAND_DISPLAY": "wayland-0", "QT_QPA_PLATFORM": "xcb"}, INSTEAD, True),
        ({"XMODIFIERS": "@im=none"}, "", True),
        ({}, "", True),
    ],
    ids=lambda value: (" ".join(value.values()) or "nothing") if isinstance(value, dict) else None,
)
def test_what_is_asked_for_and_missing_is_typed_through_ibus(environment, instead, served, tmp_path):
    method = input_method(environment, plugins(tmp_path, *OURS))
    assert (method.instead, method.served) == (instead, served)


def test_a_qt_that_has_the_plugin_or_keeps_its_plugins_elsewhere_is_left_alone(tmp_path, monkeypatch):
    asked = {"QT_IM_MODULE": "fcitx"}
    assert input_method(asked, tmp_path).instead == ""
    assert input_method(asked, plugins(tmp_path, *OURS, "fcitx5")).instead == ""
    monkeypatch.setenv("QT_PLUGIN_PATH", str(tmp_path))
    assert input_method(asked).instead == ""


def test_the_qt_of_moot_has_no_plugin_for_fcitx_and_is_told(monkeypatch):
    folder = module._plugin_folder()
    assert folder is not None and folder.is_dir()
    for name in (CHOICE, "XMODIFIERS", "QT_PLUGIN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("QT_IM_MODULE", "fcitx")
    # Taken back by monkeypatch, which has seen that it was not there.
    monkeypatch.setenv(CHOICE, "")
    choose_input_method()
    assert os.environ[CHOICE] == INSTEAD
