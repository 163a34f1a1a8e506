"""What people read in a language: the texts of the catalogue, and the prompts and definitions that come with Moot."""

import json
from pathlib import Path

RESOURCES = Path(__file__).parent.parent.parent / "resources"


def texts_in(language: str) -> dict[str, str]:
    """Return the catalogue, without the search words of the settings, which also hold older terms."""
    catalogue = json.loads((RESOURCES / "i18n" / f"{language}.json").read_text("utf-8"))
    return {key: text for key, text in catalogue.items() if not key.endswith(".find")}


def files_in(language: str) -> dict[str, str]:
    """Return the prompts and definitions by the path of their file."""
    return {
        str(path.relative_to(RESOURCES)): path.read_text("utf-8")
        for kind in ("prompts", "agents", "groups", "workflows")
        for path in sorted((RESOURCES / kind / language).iterdir())
    }
