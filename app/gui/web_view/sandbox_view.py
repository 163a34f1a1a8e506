"""A widget for a page of an MCP server, in a sandbox without network, files or storage.

Needs QtWebEngine (the extra `webui`): import it late, and only if `available()`. The page is in a frame that
may run scripts and nothing else, inside a host page with a strict content security policy.
"""

import atexit
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import shiboken6
from PySide6 import QtWebEngineCore
from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QHideEvent, QShowEvent
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QApplication, QWidget

from app.gui.tasks import timer
from app.gui.web_view.mcp_page import MAX_MESSAGE

FETCH_MS: Final = 100
"""Interval for fetching messages; with MOST_AT_ONCE it limits a page to a hundred messages a second."""

MOST_AT_ONCE: Final = 10
MOST_WAITING: Final = 50
ALLOWED_SCHEMES: Final = ("data", "blob", "qrc", "about")

_OURS: Final = QtWebEngineCore.QWebEngineScript.ScriptWorldId.ApplicationWorld.value

_HOST: Final = """<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline';
 style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; connect-src 'none';
 form-action 'none'; base-uri 'none'">
<style>html, body, iframe { margin: 0; border: 0; width: 100%; height: 100%; display: block; }</style>
</head><body>
<iframe id="guest" sandbox="allow-scripts" referrerpolicy="no-referrer"></iframe></body></html>"""

# WebRTC bypasses the content security policy and the request interceptor.
_NO_CALLS: Final = """for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel"])
  delete globalThis[name];"""

# The script runs in an isolated world, which neither the host page nor the guest can change. A message counts
# as an act of the user if it was posted after the act: those posted before it may arrive later. Where too
# many wait, such a message replaces another, so that a page that floods loses no answer.
_RELAY: Final = """(() => {
  const frame = document.getElementById("guest"), waiting = [];
  let quiet = 0, since = 0, active = -1;
  addEventListener("message", event => {
    if (event.source !== frame.contentWindow) return;
    if (!navigator.userActivation.isActive) quiet = performance.now();
    else [since, active] = [quiet, performance.now()];
    const acted = event.timeStamp > since && event.timeStamp <= active;
    const full = waiting.length >= %(most)d;
    const place = full ? acted ? waiting.findLastIndex(one => !one.acted) : -1 : waiting.length;
    if (place < 0) return;
    let text;
    try { text = JSON.stringify(event.data); } catch { return; }
    if (typeof text !== "string" || text.length > %(size)d) return;
    waiting.splice(place, 1);
    waiting.push({ text, acted });
  });
  globalThis.take = () => JSON.stringify(waiting.splice(0, %(once)d));
  globalThis.say = message => frame.contentWindow.postMessage(message, "*");
  frame.srcdoc = %(html)s;
})()"""

Json = Mapping[str, object]


class SandboxView(QWebEngineView):
    """Shows one page; emits `said(text, acted)` for each message as JSON text, and `ended`
    when the page crashed.
    """

    said = Signal(str, bool)
    ended = Signal()

    def __init__(self, html: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._html = html
        self._asking = False
        self.setObjectName("page_view")
        self.setAccessibleName(name)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setAcceptDrops(False)
        # A profile without a name stores nothing on disk.
        self._profile = QtWebEngineCore.QWebEngineProfile(QApplication.instance())
        self._blocker = _RequestBlocker(self._profile)
        self.blocked = self._blocker.blocked
        self._profile.setUrlRequestInterceptor(self._blocker)
        self._profile.scripts().insert(_no_calls())
        self._page = _GuestPage(self._profile)
        end = partial(_delete_at_exit, self._page, self._profile)
        atexit.register(end)
        self.destroyed.connect(partial(_delete_closed, self._page, self._profile, end))
        self._page.setBackgroundColor(QColor(Qt.GlobalColor.white))
        self._page.loadFinished.connect(self._on_loaded)
        self._page.renderProcessTerminated.connect(self._on_ended)
        self._timer = timer(self, FETCH_MS, self._fetch)
        self.setPage(self._page)
        self._page.setHtml(_HOST, QUrl("about:blank"))

    def say(self, message: Json) -> None:
        """Send a message to the page."""
        self._run(f"say({json.dumps(message)})")

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.accept()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    def _on_loaded(self, loaded: bool) -> None:
        if not loaded:
            self._on_ended()
            return
        limits = {"most": MOST_WAITING, "size": MAX_MESSAGE, "once": MOST_AT_ONCE}
        self._page.seal()
        self._run(_RELAY % {**limits, "html": json.dumps(self._html)})

    def _fetch(self) -> None:
        # A busy page answers late, so only one request is open at a time.
        if not self._asking:
            self._asking = True
            self._run("typeof take === 'function' ? take() : '[]'", self._on_fetched)

    def _on_fetched(self, found: object) -> None:
        self._asking = False
        for item in json.loads(found) if isinstance(found, str) and found else ():
            self.said.emit(item["text"], bool(item["acted"]))

    def _run(self, script: str, then: Callable[[object], None] | None = None) -> None:
        if then is None:
            self._page.runJavaScript(script, _OURS)
        else:
            self._page.runJavaScript(script, _OURS, then)

    def _on_ended(self, *_: object) -> None:
        self._timer.stop()
        self.ended.emit()


class _GuestPage(QtWebEngineCore.QWebEnginePage):
    """A page without navigation, new windows, dialogs or file choosers."""

    def __init__(self, profile: QtWebEngineCore.QWebEngineProfile) -> None:
        super().__init__(profile, QApplication.instance())
        self._sealed = False
        settings, names = self.settings(), QtWebEngineCore.QWebEngineSettings.WebAttribute
        files = names.LocalContentCanAccessFileUrls, names.LocalContentCanAccessRemoteUrls
        clipboard = names.JavascriptCanAccessClipboard, names.JavascriptCanPaste
        stored = names.LocalStorageEnabled, names.PluginsEnabled, names.PdfViewerEnabled
        screen = names.ScreenCaptureEnabled, names.FullScreenSupportEnabled, names.WebGLEnabled
        network = names.HyperlinkAuditingEnabled, names.DnsPrefetchEnabled, names.AutoLoadIconsForPage
        left = names.JavascriptCanOpenWindows, names.NavigateOnDropEnabled, names.AllowRunningInsecureContent
        for name in (*files, *clipboard, *stored, *screen, *network, *left):
            settings.setAttribute(name, False)
        settings.setAttribute(names.PlaybackRequiresUserGesture, True)

    def seal(self) -> None:
        """Forbid navigation after the host page is loaded."""
        self._sealed = True

    def acceptNavigationRequest(self, url: QUrl | str, kind: object, is_main_frame: bool) -> bool:
        address = QUrl(url).toString()
        if is_main_frame:
            return not self._sealed and address.startswith(("data:text/html", "about:blank"))
        return address in ("about:srcdoc", "about:blank")

    def createWindow(self, kind: object) -> None:
        return None

    def chooseFiles(self, *_: object) -> list[str]:
        return []

    def javaScriptAlert(self, origin: QUrl | str, text: str) -> None:
        return None

    def javaScriptConfirm(self, origin: QUrl | str, text: str) -> bool:
        return False

    def javaScriptPrompt(self, *_: object) -> tuple[bool, str]:
        return False, ""

    def javaScriptConsoleMessage(self, *_: object) -> None:
        # A foreign page must not fill the log.
        return None


class _RequestBlocker(QtWebEngineCore.QWebEngineUrlRequestInterceptor):
    """Blocks every request that would leave the page."""

    def __init__(self, parent: QtWebEngineCore.QWebEngineProfile) -> None:
        super().__init__(parent)
        self.blocked: list[str] = []

    def interceptRequest(self, info: QtWebEngineCore.QWebEngineUrlRequestInfo) -> None:
        if info.requestUrl().scheme().lower() not in ALLOWED_SCHEMES:
            info.block(True)
            if len(self.blocked) < 100:
                self.blocked.append(info.requestUrl().toString()[:200])


def _delete_closed(
    page: QtWebEngineCore.QWebEnginePage, profile: QtWebEngineCore.QWebEngineProfile, end: Callable[[], None]
) -> None:
    """Delete a closed page and then its profile, which must outlive it."""
    atexit.unregister(end)
    if shiboken6.isValid(page):
        page.destroyed.connect(profile.deleteLater)
        page.deleteLater()


def _delete_at_exit(page: QtWebEngineCore.QWebEnginePage, profile: QtWebEngineCore.QWebEngineProfile) -> None:
    """Delete a page that still exists at exit, before the web engine shuts down."""
    for item in (page, profile):
        if shiboken6.isValid(item):
            shiboken6.delete(item)


def _no_calls() -> QtWebEngineCore.QWebEngineScript:
    script = QtWebEngineCore.QWebEngineScript()
    script.setSourceCode(_NO_CALLS)
    script.setInjectionPoint(QtWebEngineCore.QWebEngineScript.InjectionPoint.DocumentCreation)
    script.setWorldId(QtWebEngineCore.QWebEngineScript.ScriptWorldId.MainWorld)
    script.setRunsOnSubFrames(True)
    return script
