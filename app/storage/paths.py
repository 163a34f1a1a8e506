"""The paths of the data directory, and of the resources that come with the program; touches no disk."""

import os
import sys
from pathlib import Path

# The folders of the definitions, which are also the names of their attributes of `JsonDocuments`.
DEFINITIONS = (
    "assistants",
    "groups",
    "workflows",
    "panels",
    "journal",
    "folders",
    "saved_prompts",
    "schedules",
)


class DataPaths:
    """The paths of all files and folders in a data directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sessions = root / "sessions"
        self.drafts = root / "drafts"
        self.files = root / "files"
        self.skills = root / "skills"
        self.quarantine = root / "quarantine"
        self.trash = root / "trash"
        self.backups = root / "backups"
        self.logs = root / "logs"
        self.settings = root / "settings.json"
        self.providers = root / "providers.json"
        self.models = root / "models.json"
        self.mcp = root / "mcp.json"
        self.consents = root / "consents.json"
        self.memory = root / "memory.json"
        self.usage = root / "usage.jsonl"
        self.schedule_runs = root / "schedule_runs.json"
        self.schema = root / "schema.json"
        self.index = root / "index.json"
        self.new_version = root / "new_version.json"
        self.certificates = root / "certificates.pem"
        self.lock = root / "lock"
        self.control = root / "control"

    def session(self, session_id: str) -> Path:
        """Return the path of a session's log; the caller has checked the id with `is_id`."""
        return self.sessions / f"{session_id}.jsonl"

    def draft(self, name: str) -> Path:
        """Return the path of a draft; the caller has checked the name."""
        return self.drafts / f"{name}.json"


def default_data_dir() -> Path:
    """Return `MOOT_DATA_DIR` if it is set, else the user's data directory for Moot."""
    chosen = os.environ.get("MOOT_DATA_DIR")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("Moot", appauthor=False))


def resources_dir() -> Path:
    """Return `resources/` of a frozen build, an installed wheel or a checkout.

    Raises FileNotFoundError if there is none.
    """
    package = Path(__file__).resolve().parent.parent
    places = [package / "_resources", package.parent / "resources"]
    frozen = getattr(sys, "_MEIPASS", None)
    if frozen:
        places.insert(0, Path(frozen) / "resources")
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(places[-1])
