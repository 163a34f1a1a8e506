"""A page scrolls to what gets the focus, also from outside, and a page that is deleted is asked nothing."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.gui.widgets.boxes import vbox
from app.gui.widgets.controls import PageScroller, scrolling


def a_page(fields: int) -> tuple[QWidget, list[QLineEdit]]:
    """Return a small page with fields below each other, and the fields."""
    body = QWidget()
    made = [QLineEdit() for _ in range(fields)]
    vbox(*made, inside=body)
    page = scrolling(body)
    page.resize(200, 120)
    page.show()
    return page, made


def test_a_page_scrolls_to_the_focus_and_only_one_connection_watches_it(qapp: QApplication) -> None:
    scroller = PageScroller(qapp)
    page, fields = a_page(20)
    page.activateWindow()
    fields[0].setFocus()
    qapp.processEvents()
    fields[-1].setFocus()
    qapp.processEvents()
    assert not fields[-1].visibleRegion().isEmpty()
    assert fields[0].visibleRegion().isEmpty()
    page.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    other, left = a_page(2)
    left[1].setFocus()
    qapp.processEvents()
    assert left[1].hasFocus()
    other.close()
    scroller.deleteLater()
