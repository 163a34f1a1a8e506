"""The user's settings; the settings dialog and `settings.json` are both made from these fields."""

from dataclasses import dataclass

SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user chose. `language` and `theme` are `system` or a name."""

    language: str = SYSTEM
    theme: str = SYSTEM
    project_context: tuple[str, ...] = ()
