"""The prompts that the user keeps, and those that come with the program; `engine.saved_prompts` for the faces."""

from app.core.events import SavedPromptsChanged
from app.core.saved_prompt import SavedPrompt
from app.engine.library.definitions import LibraryKind

PROMPT_KIND = LibraryKind(
    noun=SavedPrompt,
    name="saved_prompt",
    store=lambda documents: documents.saved_prompts,
    changed=SavedPromptsChanged,
    shared=("name", "text"),
    silent=("kind",),
)
