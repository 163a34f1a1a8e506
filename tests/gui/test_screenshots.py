"""One picture is made as `python -m tests.screenshots` makes them all, which `.ci/full` runs."""

from PySide6.QtGui import QImage

from tests.app_driver import at_window
from tests.screenshots import keep


async def test_a_picture_shows_the_window(qapp, data_dir, tmp_path):
    async with at_window(data_dir, size=(900, 600)) as person:
        await keep(person, tmp_path / "welcome.png")
    picture = QImage(str(tmp_path / "welcome.png"))
    assert (picture.width(), picture.height()) == (900, 600)
    colours = {picture.pixel(x, y) for x in range(0, 900, 9) for y in range(0, 600, 9)}
    assert len(colours) > 3, "more than an empty page"
