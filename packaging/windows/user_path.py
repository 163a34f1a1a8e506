"""Adds a folder to the user's PATH or removes it: `moot -m user_path add FOLDER`, run by the installer.

NSIS itself would cut a PATH of more than 1,023 characters.
"""

import sys

SEPARATOR = ";"
# Windows' constants of the message that tells programs of a changed environment.
HWND_BROADCAST = 0xFFFF
WM_SETTINGCHANGE = 0x1A
SMTO_ABORTIFHUNG = 2
TOLD_MS = 2000


def changed(path: str, action: str, folder: str) -> str:
    """Return a PATH with the folder at its end ("add") or without it ("remove"); all else stays as it is."""
    parts = [part for part in path.split(SEPARATOR) if part and not same(part, folder)]
    return SEPARATOR.join([*parts, folder] if action == "add" else parts)


def same(one: str, other: str) -> bool:
    """Return whether two entries of PATH name the same folder."""
    return one.rstrip("\\").lower() == other.rstrip("\\").lower()


def main(action: str, folder: str) -> None:
    """Change the PATH of the user, which programs see that are started from now on."""
    import ctypes
    import winreg

    with winreg.CreateKeyEx(
        winreg.HKEY_CURRENT_USER, "Environment", 0, winreg.KEY_READ | winreg.KEY_WRITE
    ) as key:
        try:
            before, kind = winreg.QueryValueEx(key, "Path")
        except FileNotFoundError:
            before, kind = "", winreg.REG_EXPAND_SZ
        after = changed(before, action, folder)
        if after == before:
            return
        winreg.SetValueEx(key, "Path", 0, kind, after)
    ctypes.windll.user32.SendMessageTimeoutW(
        HWND_BROADCAST, WM_SETTINGCHANGE, 0, "Environment", SMTO_ABORTIFHUNG, TOLD_MS, None
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
