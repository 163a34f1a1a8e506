"""Starts the engine that shows pages, where it is installed; imported by the tests that show some."""

import os

import pytest

from app.gui.web_view import available, prepare


@pytest.fixture(scope="module", autouse=True)
def web_engine(qapp) -> None:
    """Start the engine before the tests, since its helpers then stay as long as this process."""
    if not available():
        return
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # As root it refuses to start with its own sandbox.
        os.environ["QTWEBENGINE_DISABLE_SANDBOX"] = "1"
    prepare()
    from PySide6.QtWebEngineCore import QWebEngineProfile

    QWebEngineProfile().deleteLater()
