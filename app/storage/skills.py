"""The folders of skills: those of the data directory, those that come with Moot, those of other programs.

Implements `core.skills.SkillFiles`. Nothing of a skill is ever run, and no link is followed inside of one.
"""

import contextlib
import io
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from app.core import skills
from app.core.errors import BadInput, NotFound
from app.core.ids import stamp
from app.core.session_files import BadPathError, checked_path
from app.core.skills import SKILL_FILE, Contents, Skill, checked_skill, is_skill_name, too_large
from app.storage.access import FolderDisk
from app.storage.file_system import FileSystem, storage_errors, write_whole
from app.storage.foreign_file import CheckedZip, Limits
from app.storage.json_file import place_in_trash
from app.storage.paths import DataPaths, resources_dir
from app.storage.session_files import remove_folder
from app.storage.threads import InThread, awaited

# The kind of a skill in the trash, and how its file there ends.
SKILL_KIND, ZIP = "skill", ".zip"
# Where Claude Code, Codex, Gemini CLI, opencode and Cursor keep skills, in a home and in a project.
PLACES: Final = (
    ".claude/skills", ".codex/skills", ".agents/skills", ".gemini/skills", ".config/opencode/skill",
    ".config/opencode/skills", ".opencode/skill", ".opencode/skills", ".cursor/skills",
)  # fmt: skip

_MOST_ENTRIES: Final = 10 * skills.MOST_FILES
_LIMITS: Final = Limits(file=50 << 20, unpacked=50 << 20, entry=skills.MOST_BYTES, entries=_MOST_ENTRIES)
_HEAD: Final = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
# How the folders begin and end that are there only while a skill is written.
_PART, _NEW, _OLD = ".part", ".new", ".old"


class SkillFolders:
    """Keeps skills in `skills/<name>`; `run` runs what blocks, one piece after the other."""

    def __init__(self, paths: DataPaths, disk: FileSystem, run: InThread) -> None:
        self._root, self._trash = paths.skills, paths.trash
        self._disk, self._run = disk, run
        self._known: dict[str, Skill] = {}
        # Those of Moot by language, each with its files; read when they are first asked for.
        self._own: dict[str, dict[str, tuple[Skill, Contents]]] = {}

    def known(self, language: str) -> tuple[Skill, ...]:
        """Return the skills as they were last looked at."""
        own = self._own.get(language, {})
        return (*(skill for skill, _ in own.values()), *(self._known[name] for name in sorted(self._known)))

    @awaited
    def look(self, names: Collection[str] | None = None) -> None:
        """Look at skills as they are now."""
        if not self._own:
            for folder in sorted((resources_dir() / "skills").glob("*/*")):
                contents = read_folder(folder)
                skill = _skill(folder.name, contents, built_in=True)
                self._own.setdefault(folder.parent.name, {})[skill.name] = (skill, contents)
        there = self.names()
        self._known = {name: skill for name, skill in self._known.items() if name in there}
        for name in there:
            if names is None or name in names:
                self._known[name] = _found(self._root / name, name)[0]

    @awaited
    def read(self, name: str, language: str) -> tuple[Skill, Contents]:
        """Return a skill as it is now, with its files."""
        if name in (own := self._own.get(language, {})):
            return own[name]
        skill, contents = _found(self._place(name), name)
        if skill.problem is not None:
            raise skill.problem
        return skill, contents

    @awaited
    def add(self, path: str) -> tuple[Skill, ...]:
        """Keep the skills of a folder or a zip."""
        place = Path(path)
        found = list(_in_zip(place) if place.is_file() else _in_folder(place))
        if not found:
            raise BadInput("skill_none", path=path)
        return tuple(self._added(skill, contents) for skill, contents in found)

    @awaited
    def take(self, sent: Mapping[str, Contents]) -> tuple[Skill, ...]:
        """Keep the skills that came with an assistant."""
        added = []
        for name, files in sent.items():
            contents = {usual: data for path, data in files.items() if (usual := _usual(path))}
            skill, _ = _checked(name, contents)
            if skill.problem is None and skill.name in self.names():
                if _found(self._root / skill.name)[0].digest == skill.digest:
                    continue
                skill = Skill(name=skill.name, problem=BadInput("skill_taken", name=skill.name))
            added.append(self._added(skill, contents))
        return tuple(added)

    @awaited
    def elsewhere(self) -> tuple[Skill, ...]:
        """Return the skills that other programs keep in the user's home."""
        return tuple(skill for skill, _ in _in_folder(Path.home(), only=PLACES))

    @awaited
    def remove(self, name: str) -> str:
        """Move a skill to the trash."""
        with storage_errors(place := self._place(name)):
            file = self._keep_in_trash(name)
            self._disk.move(place, self._root / f".{name}{_PART}")
            self.mend()
        self._known.pop(name, None)
        return file

    @awaited
    def put_back(self, file: str) -> None:
        """Bring a skill back from the trash."""
        for skill, contents in _in_zip(self._trash / file):
            if skill.name in self.names():
                raise BadInput("bin_place_taken", name=skill.name)
            self.put(skill.name, contents)
            self._disk.remove(self._trash / file)

    def names(self) -> list[str]:
        """Return the names of the skills that are kept; blocks."""
        return _names(self._root)

    def put(self, name: str, contents: Contents) -> None:
        """Keep a skill in place of the one of its name; after a kill there is either of them. Blocks."""
        place = self._root / name
        part, new, old = (self._root / f".{name}{end}" for end in (_PART, _NEW, _OLD))
        with storage_errors(place):
            self.mend()
            for path, data in contents.items():
                write_whole(self._disk, part / path, data)
            self._disk.move(part, new)
            if place.exists():
                self._keep_in_trash(name)
                self._disk.move(place, old)
            self._disk.move(new, place)
            remove_folder(old)
        self._known[name] = _found(place, name)[0]

    def mend(self) -> None:
        """Finish what a process that was killed has begun, or undo it; blocks. Raises OSError."""
        for end in (_NEW, _OLD, _PART):
            for left in self._root.glob(f".*{end}"):
                place = self._root / left.name[1 : -len(end)]
                if end != _PART and is_skill_name(place.name) and not place.exists():
                    self._disk.move(left, place)
                remove_folder(left)

    def _added(self, skill: Skill, contents: Contents) -> Skill:
        names, problem = self.names(), skill.problem
        if any(skill.name in own for own in self._own.values()):
            problem = BadInput("skill_built_in", name=skill.name)
        elif skill.name not in names and len(names) >= skills.MOST_SKILLS:
            problem = BadInput("skills_too_many", most=skills.MOST_SKILLS)
        if problem is not None:
            return Skill(name=skill.name, problem=problem)
        self.put(skill.name, contents)
        return self._known[skill.name]

    def _place(self, name: str) -> Path:
        """Return the folder of a skill. Raises NotFound."""
        if name not in self.names():
            raise NotFound("skill_not_found", name=name[:80])
        return self._root / name

    def _keep_in_trash(self, name: str) -> str:
        target = place_in_trash(self._disk, self._trash, name, ZIP)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
            for path, data in read_folder(self._root / name).items():
                file.writestr(f"{name}/{path}", data)
        write_whole(self._disk, target, packed.getvalue())
        return target.name


def _names(root: Path) -> list[str]:
    folders = (place.name for place in root.glob("*") if place.is_dir() and not place.is_symlink())
    return sorted(filter(is_skill_name, folders))


def files_of_skills(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of all skills, each with its name in a backup."""
    for name in _names(root):
        with contextlib.suppress(BadInput, OSError):
            yield from ((f"skills/{name}/{path}", file) for path, file in _files_of(root / name))


def fits_skill(name: str, contents: Contents) -> bool:
    """Return whether files are the skill of a name."""
    with contextlib.suppress(BadInput):
        return _skill(name, contents).name == name
    return False


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the files of a skill, without links and what has no usual path. Raises BadInput, OSError."""
    found, size = dict[str, bytes](), 0
    folder = folder.resolve(strict=True)
    for path, place in _files_of(folder):
        with FolderDisk(folder).open_read(place) as file:
            found[path] = file.read(skills.MOST_BYTES + 1 - size)
        size += len(found[path])
        if size > skills.MOST_BYTES or len(found) > skills.MOST_FILES:
            raise too_large(folder.name)
    return found


def _files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the path of each file of a skill and its place. Raises BadInput for too many, OSError."""
    folder = folder.resolve(strict=True)
    disk, seen, waiting = FolderDisk(folder), 0, [""]
    while waiting:
        before = waiting.pop()
        for name, is_folder in sorted(disk.entries(folder / before)):
            if (seen := seen + 1) > _MOST_ENTRIES:
                raise too_large(folder.name)
            if (path := _usual(before + name)) and is_folder:
                waiting.append(f"{before}{name}/")
            elif path:
                yield path, folder / before / name


def _usual(path: str) -> str:
    """Return a path in its usual form, "" for one that no file of a skill may have."""
    with contextlib.suppress(BadPathError):
        return checked_path(path)
    return ""


def _in_folder(folder: Path, only: Collection[str] = ()) -> Iterator[tuple[Skill, Contents]]:
    """Yield the skill that a folder is, else those in it, and where programs keep them in a project."""
    try:
        folder = folder.resolve(strict=True)
        if not only and (folder / SKILL_FILE).is_file():
            yield _found(folder)
            return
        for place in only or ("", "skills", *PLACES):
            with contextlib.suppress(OSError):
                entries = sorted((folder / place).resolve(strict=True).iterdir())
                for inside in entries[:_MOST_ENTRIES]:
                    # Users link to their own skills where programs keep them; in any other folder a link may
                    # lead anywhere.
                    is_near = bool(only) or inside.resolve().is_relative_to(folder)
                    if is_near and (inside / SKILL_FILE).is_file():
                        yield _found(inside.resolve(strict=True))
    except (OSError, RuntimeError) as error:
        raise BadInput("skill_none", path=str(folder)) from error


def _found(folder: Path, name: str = "") -> tuple[Skill, Contents]:
    """Return the skill that a folder is, with a problem where it is not taken."""
    try:
        contents = read_folder(folder)
        newest = max((folder / path).lstat().st_mtime for path in ("", *contents))
        changed_at = stamp(datetime.fromtimestamp(newest, UTC), "seconds")
        skill = _skill(folder.name, contents, changed_at=changed_at, place=str(folder))
        problem = BadInput("skill_name", name=skill.name) if name and skill.name != name else None
    except (BadInput, OSError) as error:
        problem = error if isinstance(error, BadInput) else BadInput("skill_none", path=str(folder))
    if problem is not None:
        return Skill(name=name or folder.name, problem=problem, place=str(folder)), {}
    return skill, contents


def _in_zip(path: Path) -> Iterator[tuple[Skill, Contents]]:
    """Yield the skills in a zip: of each folder with a SKILL.md what is below it. Raises BadInput."""
    with contextlib.closing(CheckedZip(path, _LIMITS)) as packed:
        texts = sorted(packed.names, key=lambda item: item.count("/"))
        roots = [name.removesuffix(SKILL_FILE) for name in texts if f"/{name}".endswith(f"/{SKILL_FILE}")]
        for root in roots:
            if any(root != outer and root.startswith(outer) for outer in roots):
                continue
            paths = ((_usual(name[len(root) :]), name) for name in packed.names if name.startswith(root))
            # One more than are taken, so that it is refused.
            kept = islice((pair for pair in paths if pair[0]), skills.MOST_FILES + 1)
            contents = {usual: packed.read(name) for usual, name in kept}
            name = root.rstrip("/").rpartition("/")[2] or path.stem
            yield _checked(name, contents)


def _checked(name: str, contents: Contents) -> tuple[Skill, Contents]:
    """Return the skill of these files, with a problem where it is not taken."""
    try:
        return _skill(name, contents), contents
    except BadInput as error:
        return Skill(name=name, problem=error), {}


def _skill(folder: str, contents: Contents, **more: object) -> Skill:
    """Return the skill of these files. Raises BadInput for what is not taken."""
    import yaml

    if SKILL_FILE not in contents:
        raise BadInput("skill_none", path=folder)
    if len(contents[SKILL_FILE]) > skills.MOST_TEXT:
        raise BadInput("skill_text_too_large", name=folder[:80], most=skills.MOST_TEXT // 1_000)
    try:
        text = contents[SKILL_FILE].decode("utf-8-sig").replace("\r\n", "\n")
        head = _HEAD.match(text)
        # The nodes alone: nothing is made of tags, and what an alias repeats is there once.
        node = yaml.compose(head[1], Loader=yaml.SafeLoader) if head else None
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        plain = (pair for pair in pairs if all(isinstance(item, yaml.ScalarNode) for item in pair))
        values = {key.value: value.value for key, value in plain}
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        detail = " ".join(str(error).split())[:200]
        raise BadInput("skill_head", name=folder[:80], detail=detail) from error
    return checked_skill(values.get("name", ""), values.get("description", ""), contents, **more)
