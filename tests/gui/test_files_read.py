"""Files that are given to a debate, or shared: what cannot be read is named as one would at the window."""

from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.gui.display.i18n import Language
from app.gui.files.attachments import read_context
from app.gui.files.shared_files import read_shared_file
from tests.gui.test_i18n import FOLDER


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("picture.png", "picture.png is not a text file."),
        ("gone.md", "Could not read gone.md: No such file or directory"),
        ("folder", "Could not read folder: Is a directory"),
    ],
)
async def test_a_file_that_cannot_be_read_is_named(
    qapp: object, tmp_path: Path, name: str, said: str, *, shared: bool
) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    with pytest.raises(BadInput) as caught:
        await (read_shared_file(path) if shared else read_context((str(path),)))
    assert Language(FOLDER, "en").problem(caught.value.code, **caught.value.details) == said
