"""The prompts that the user keeps, and those that come with the program; `engine.saved_prompts` for the faces."""

from collections.abc import Callable, Mapping, Sequence

from app.core.events import EventBus, SavedPromptsChanged
from app.core.saved_prompt import SavedPrompt
from app.core.store import Documents
from app.engine.library.definitions import Definitions, LibraryKind

_KIND = LibraryKind(
    noun=SavedPrompt,
    name="saved_prompt",
    store=lambda documents: documents.saved_prompts,
    changed=SavedPromptsChanged,
    shared=("name", "text"),
    silent=("kind",),
)


class SavedPrompts(Definitions[SavedPrompt]):
    """What a user may do with prompts; everything raises BadInput, NotFound or StorageError in words."""

    def __init__(
        self,
        documents: Documents,
        bus: EventBus,
        language: Callable[[], str],
        built_in: Mapping[str, Sequence[SavedPrompt]],
    ) -> None:
        super().__init__(_KIND, documents, bus, language, built_in)
