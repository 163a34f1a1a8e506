"""Files that are given to a debate, or shared: what cannot be read is named as one would at the window."""

from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.files.reader import FileReaders
from app.gui.display.appearance import Language
from app.gui.files.user_files import read_shared_file
from tests.gui.test_i18n import FOLDER

CHECK = "Check the path and the file’s permissions."


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "picture.png",
            (
                "picture.png is not a text file.",
                "“picture.png” is not a text file, an image or a document that can be read.",
            ),
        ),
        (
            "gone.md",
            (
                f"Could not read gone.md: No such file or directory. {CHECK}",
                f"“gone.md” could not be read: No such file or directory. {CHECK}",
            ),
        ),
        (
            "folder",
            (
                f"Could not read folder: Is a directory. {CHECK}",
                f"“folder” could not be read: Is a directory. {CHECK}",
            ),
        ),
    ],
)
async def test_a_file_that_cannot_be_read_is_named(
    qapp: object, tmp_path: Path, name: str, said: tuple[str, str], *, shared: bool
) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    with pytest.raises(BadInput) as caught:
        await (read_shared_file(path) if shared else FileReaders().read(path))
    assert Language(FOLDER, "en").problem(caught.value.code, **caught.value.details) == said[not shared]
