"""The files of a session: their versions, and which paths they may have."""

import contextlib
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Final, NamedTuple

from app.core.errors import BadInput
from app.core.frozen import Frozen
from app.core.session import OF_FOLDER
from app.core.texts import exact

MOST_FILES: Final = 200
MOST_BYTES: Final = 50_000_000
# How many names list_files shows.
MOST_LISTED: Final = 2_000
MOST_PATH: Final = 1_000
# Bytes of UTF-8 of a folder's or a file's own name.
MOST_NAME: Final = 240

_PORTS: Final = tuple(f"{port}{number}" for port in ("com", "lpt") for number in range(10))
# The names that Windows reserves, with any suffix.
DEVICES: Final = frozenset(("con", "prn", "aux", "nul", "conin$", "conout$", *_PORTS))

# The suffixes of what a system starts, installs or opens by itself; of folders too.
FORBIDDEN_SUFFIXES: Final = frozenset(
    """
    action ade adp apk app appimage appinstaller applescript application appref-ms appx appxbundle bas bat cab
    chm class cmd com command cpl crt csh deb desktop diagcab dll dmg docm dotm dylib exe fileloc flatpak
    flatpakref gadget grp hlp hta htc img inetloc inf ins iso isp jar jnlp jse kext ksh lib library-ms link
    lnk mad maf mag mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz mht mhtml mobileconfig mpkg msc
    msh msh1 msh1xml msh2 msh2xml mshxml msi msix msixbundle msp mst ocx ops osax osd pcd pif pkg plg potm
    ppam ppsm pptm prefpane prf prg ps1 ps1xml ps2 ps2xml psc1 psc2 psd1 psdm1 psm1 pyc pyd pyo pyw pyz pyzw
    reg rpm run scf scpt scptd scr sct search-ms searchconnector-ms service settingcontent-ms shb shs snap so
    sys terminal theme themepack timer tmp tool udl url vb vbe vbp vbs vhd vhdx vsmacros vsw webloc website
    wflow workflow ws wsc wsf wsh xbap xlam xll xlm xlsm xltm xnk
    """.split()  # noqa: SIM905
)

_OF_KEYS = "asc env gpg jks kdb kdbx key keychain keystore keytab ovpn p12 p8 pem pfx pgp pkcs12 ppk"
KEY_SUFFIXES: Final = frozenset(_OF_KEYS.split())
KEY_FILES: Final = frozenset(("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"))
# How the permission for a file begins that the user has named; the slashes of its path are colons there.
_NAMED: Final = "file:"
_UNLESS: Final = "read or written unless the user names them"
_SIGNS: Final = '\\:*?"<>|'


class BadPathError(BadInput):
    """A path that no file of a session may have; the text tells a model why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__("file_path", path=path)
        self.why = why

    def __str__(self) -> str:
        return self.why


class FileVersion(Frozen):
    """One version of a file of a session, or the news that the file is gone."""

    path: str
    # Counted from 1; 0 is the user's own original.
    version: int
    bytes: int = 0
    # Of what the file holds, "" where it is gone.
    sha256: str = ""
    # The name of the assistant who wrote it, "" for the user, in Moot or with another program.
    author: str = ""
    # The message with the result of the tool that wrote it, "" for the user.
    message_id: str = ""
    created_at: str = ""
    # The path it was moved from, "" where it was not.
    moved_from: str = ""

    @property
    def gone(self) -> bool:
        """Whether the file was deleted or moved away."""
        return not self.sha256


# What returns the contents that a file is to have of the version that is there, None for none, and its
# contents.
Make = Callable[[FileVersion | None, bytes], bytes]


class Writer(NamedTuple):
    """Who changes a file, and the message with the result of the call that does; both "" for the user."""

    author: str = ""
    message_id: str = ""


USER: Final = Writer()


def checked_path(path: str, named: Container[str] = ()) -> str:
    """Return a path in its usual Unicode form.
    Raises BadPathError for one that is not taken on every system, and for hidden files and those for keys but
    for what the user has `named`.
    """
    path = unicodedata.normalize("NFC", path)
    if len(path) > MOST_PATH:
        raise BadPathError(path, f"the path has {len(path):,} characters; at most {MOST_PATH:,} are taken")
    if exact(path) != path:
        raise BadPathError(path, f"the path has a control or invisible character: {exact(path)}")
    if any(sign in path for sign in _SIGNS):
        why = f"{path!r} has one of the characters {' '.join(_SIGNS)}; only / parts folders"
        raise BadPathError(path, why)
    for character in filter(lambda item: not item.isascii(), path):
        if not set("./\\").isdisjoint(unicodedata.normalize("NFKC", character)):
            raise BadPathError(path, f"{character!r} in {path!r} can be taken for a dot or a slash")
    if path.startswith("/"):
        raise BadPathError(path, f"{path!r} is absolute; a path begins in the session's own folder")
    for name in path.split("/"):
        if problem := _problem(name, closed=path not in named):
            raise BadPathError(path, f"{path!r}: {problem}")
    return path


def is_usual(path: str, named: Container[str] = ()) -> bool:
    """Return whether a file may have a path, in its usual form; one hidden or for keys has none but
    where it is `named`.
    """
    with contextlib.suppress(BadPathError):
        return checked_path(path, named) == path
    return False


def permission_for(path: str) -> str:
    """Return the permission that names a hidden file, or one for keys. Raises BadPathError."""
    return _NAMED + checked_path(path, (unicodedata.normalize("NFC", path),)).replace("/", ":")


def files_named(permissions: Iterable[str]) -> frozenset[str]:
    """Return the paths of the files that the user has named."""
    named = (permission.removeprefix(_NAMED) for permission in permissions if permission.startswith(_NAMED))
    return frozenset(item.replace(":", "/") for item in named)


def of_folder(permissions: Iterable[str]) -> tuple[str, ...]:
    """Return those of the permissions that are about a chosen folder."""
    return tuple(item for item in permissions if item in OF_FOLDER or item.startswith(_NAMED))


def _problem(name: str, *, closed: bool) -> str:
    """Return what is wrong with a folder's or a file's own name, "" for nothing."""
    if name in ("", ".", ".."):
        return "a part is empty, . or .., and nothing outside the session's folder can be reached"
    if closed and name.startswith("."):
        return f"{name!r} begins with a dot, and hidden files are never {_UNLESS}"
    if name[-1] in ". ":
        return f"{name!r} ends with a dot or a blank"
    if len(name.encode()) > MOST_NAME:
        return f"a name is over {MOST_NAME} bytes long"
    told = folded(name)
    if told.partition(".")[0].rstrip() in DEVICES:
        return f"{name!r} is a name that Windows reserves"
    _, dot, suffix = told.rpartition(".")
    if dot and suffix.strip() in FORBIDDEN_SUFFIXES:
        return f"files that end in .{suffix} are never written: a system might run them"
    # A copy is one too, as in id_rsa.bak or cert.pem~.
    first, *suffixes = (part.strip(" ~") for part in told.split("."))
    if closed and ((first in KEY_FILES and suffixes != ["pub"]) or KEY_SUFFIXES.intersection(suffixes)):
        return f"{name!r} is the name of a file for keys, and such files are never {_UNLESS}"
    return ""


def folded(path: str) -> str:
    """Return a path without what some file systems don't tell apart: case and forms of Unicode."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


def check_beside(path: str, others: Iterable[str]) -> None:
    """Raise BadPathError for a path that cannot stand beside the others.

    It differs from one by case alone, or a file has the name of one of its folders.
    """
    known: dict[str, tuple[str, bool]] = {}
    for other in others:
        for part in _begins(other):
            known.setdefault(folded(part), (part, part == other))
    for part in _begins(path):
        there, is_file = known.get(folded(part), (part, part == path))
        if there != part:
            raise BadPathError(path, f"{there!r} is there already: use exactly that name instead of {part!r}")
        if is_file != (part == path):
            raise BadPathError(path, f"{part!r} is a {'file' if is_file else 'folder'} already")


def _begins(path: str) -> Iterator[str]:
    """Yield each folder of a path, the outermost first, and the path itself."""
    for place, character in enumerate(path):
        if character == "/":
            yield path[:place]
    yield path
