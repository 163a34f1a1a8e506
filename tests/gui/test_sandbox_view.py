"""A stranger's page in the sandbox: what it may say arrives, and nothing else gets out. Needs the extra `webui`."""

import asyncio
import json
import os
import re
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.gui.web_view import available
from app.gui.web_view.mcp_page import PageFacts, PageTalk, read_page
from app.tools.prompt_user import prompt_user
from tests.gui.web_engine import web_engine  # noqa: F401

# A folder with published packages of others; tests/tools/test_mcp_ui_clients.py says how it is made.
CLIENTS = os.environ.get("MCP_UI_CLIENTS", "")

pytestmark = [
    pytest.mark.skipif(not available(), reason="needs the extra `webui`"),
    # The engine says how it draws; that is no fault of ours.
    pytest.mark.no_qt_log,
]

Shown = Callable[[str], object]


@pytest.fixture
async def shown(qtbot, qapp) -> AsyncIterator[Shown]:
    """Return what shows a page; its messages are in the view's `heard`."""
    from app.gui.web_view.sandbox_view import SandboxView

    views = []

    def show(html: str) -> SandboxView:
        view = SandboxView(html, "A page")
        view.heard = []
        view.deaths = []
        view.said.connect(lambda text, acted: view.heard.append((json.loads(text), acted)))
        view.ended.connect(lambda: view.deaths.append(1))
        view.resize(400, 300)
        view.show()
        views.append(view)
        return view

    yield show
    for view in views:
        view.close()
        view.deleteLater()
    await asyncio.sleep(0.1)


async def until(true: Callable[[], object], seconds: float = 20.0, what: str = "") -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.02)


def script(code: str) -> str:
    return f"<p>A page</p><script>const say = what => parent.postMessage(what, '*');{code}</script>"


async def heard(view, count: int = 1) -> list[object]:
    await until(lambda: len(view.heard) >= count)
    return [message for message, _ in view.heard]


async def test_what_a_page_says_arrives_and_what_is_told_to_it_too(shown: Shown) -> None:
    view = shown(
        script("""addEventListener('message', event => say({ echo: event.data }));
        say({ type: 'prompt', payload: { prompt: 'Monday' } });""")
    )
    assert await heard(view) == [{"type": "prompt", "payload": {"prompt": "Monday"}}]
    assert view.heard[0][1] is False
    view.say({"type": "x", "text": "</script>\u2028\"'"})
    assert (await heard(view, 2))[1] == {"echo": {"type": "x", "text": "</script>\u2028\"'"}}


PROBE = """
const report = {};
const probe = (name, run) => { try { report[name] = String(run()); } catch (error) { report[name] = error.name; } };
probe('storage', () => localStorage.length);
probe('cookie', () => document.cookie);
probe('parent', () => parent.document.title);
probe('top', () => { top.location = 'https://example.org/'; return 'gone'; });
probe('window', () => String(open('https://example.org/')));
probe('qt', () => typeof qt);
probe('channel', () => typeof QWebChannel);
probe('take', () => typeof parent.take);
probe('calls', () => typeof RTCPeerConnection);
probe('evaluates', () => eval('1 + 1'));
probe('alert', () => alert('x'));
const inner = document.createElement('iframe');
inner.srcdoc = "<script>parent.postMessage(typeof RTCPeerConnection, '*')<" + "/script>";
addEventListener('message', event => { report.inner = event.data; });
document.body.append(inner);
const silent = () => new Promise((good, bad) => setTimeout(() => bad({ name: 'silent' }), 1000));
const ask = (name, made) => Promise.race([made, silent()]).then(() => { report[name] = 'reached'; }, error => { report[name] = error.name; });
const image = url => new Promise((good, bad) => {
  const one = new Image(); one.onload = good; one.onerror = () => bad({ name: 'blocked' }); one.src = url;
});
const frame = url => { const one = document.createElement('iframe'); one.src = url; document.body.append(one); };
(async () => {
  await ask('fetch', fetch(BASE + '/fetch'));
  await ask('image', image(BASE + '/image'));
  await ask('file', image('file:///etc/hostname'));
  await ask('fileFetch', fetch('file:///etc/hostname'));
  await ask('worker', new Promise((good, bad) => { const one = new Worker(BASE + '/w'); one.onerror = () => bad({ name: 'blocked' }); }));
  await ask('socket', new Promise((good, bad) => { const one = new WebSocket(BASE.replace('http', 'ws')); one.onopen = good; one.onerror = () => bad({ name: 'blocked' }); }));
  report.beacon = String(navigator.sendBeacon(BASE + '/beacon', 'x'));
  frame(BASE + '/frame');
  frame('file:///etc/hostname');
  for (const [tag, at, kind] of [['link', 'href', 'stylesheet'], ['link', 'href', 'dns-prefetch'], ['link', 'href', 'preconnect'], ['link', 'href', 'prefetch'], ['script', 'src', '']]) {
    const one = document.createElement(tag); one.rel = kind; one[at] = BASE + '/' + tag + kind; document.head.append(one);
  }
  const form = document.createElement('form'); form.action = BASE + '/form'; form.method = 'post';
  document.body.append(form); try { form.submit(); } catch (error) {}
  setTimeout(() => {
    say(report);
    // A page that tries to leave is gone, and arrives nowhere.
    const meta = document.createElement('meta'); meta.httpEquiv = 'refresh'; meta.content = '0;url=' + BASE + '/refresh';
    document.head.append(meta);
    setTimeout(() => { location = BASE + '/self'; }, 200);
  }, 700);
})();
"""


async def test_a_page_reaches_neither_the_network_nor_files_nor_its_host(shown: Shown) -> None:
    reached: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.read(200))
        writer.write(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        view = shown(script(f"const BASE = {base!r};" + PROBE))
        [report] = await heard(view)
        await asyncio.sleep(1.0)
        assert reached == []
    assert isinstance(report, dict)
    assert {name: report[name] for name in ("storage", "cookie", "parent", "top")} == dict.fromkeys(
        ("storage", "cookie", "parent", "top"), "SecurityError"
    )
    assert (report["window"], report["qt"], report["channel"]) == ("null", "undefined", "undefined")
    assert (report["take"], report["evaluates"]) == ("SecurityError", "EvalError")
    assert (report["calls"], report["inner"]) == ("undefined", "undefined")
    for name in ("fetch", "image", "file", "fileFetch", "worker", "socket"):
        assert report[name] != "reached", name
    assert view.deaths == []


async def test_no_call_between_browsers_gets_out_even_where_it_could_be_placed(shown: Shown) -> None:
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.bind(("127.0.0.1", 0))
    listening.setblocking(False)
    port = listening.getsockname()[1]
    view = shown(
        script(f"""let made = 'no';
        try {{ const one = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:127.0.0.1:{port}' }}] }});
          one.createDataChannel('x'); one.createOffer().then(offer => one.setLocalDescription(offer)); made = 'yes';
        }} catch (error) {{}}
        setTimeout(() => say({{ made }}), 1500);""")
    )
    assert await heard(view) == [{"made": "no"}]
    with pytest.raises(BlockingIOError):
        listening.recv(100)
    listening.close()


async def test_a_page_that_floods_is_held_to_its_rate(shown: Shown) -> None:
    view = shown(script("setInterval(() => { for (let n = 0; n < 500; n++) say({ n }); }, 5);"))
    await heard(view)
    view.heard.clear()
    await asyncio.sleep(1.0)
    assert len(view.heard) <= 120


async def test_messages_that_are_too_large_or_endless_are_dropped(shown: Shown) -> None:
    view = shown(
        script(
            """say('x'.repeat(200000)); const round = {}; round.round = round; say(round); say(undefined);
        say(() => 1); say({ fine: true });""".replace("say(() => 1);", "")
        )
    )
    assert await heard(view) == [{"fine": True}]


async def test_a_click_in_the_page_counts_as_the_persons_act(shown: Shown) -> None:
    view = shown(
        script("""document.body.innerHTML = '<button style="position:fixed;inset:0">Go</button>';
        document.querySelector('button').onclick = () => say({ clicked: true }); say({ ready: true });""")
    )
    await heard(view)
    await asyncio.sleep(0.5)
    QTest.mouseClick(
        view.focusProxy(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(200, 150)
    )
    await heard(view, 2)
    assert view.heard == [({"ready": True}, False), ({"clicked": True}, True)]


FLOODS = """document.body.innerHTML = '<button style="position:fixed;inset:0">Go</button>';
const flood = count => { for (let n = 0; n < count; n++) say({ flood: n }); };
document.querySelector('button').onclick = () => say({ clicked: true });
setTimeout(() => { flood(100_000); setInterval(flood, 10, 100); }, 300);"""


@pytest.mark.slow
async def test_a_page_that_floods_suppresses_no_click(shown: Shown) -> None:
    view = shown(script(FLOODS))
    await heard(view)
    # Of a hundred thousand messages most still wait, and others follow; they fill what was just fetched.
    await asyncio.sleep(0.05)
    QTest.mouseClick(
        view.focusProxy(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(200, 150)
    )
    await until(lambda: ({"clicked": True}, True) in view.heard)
    # What was posted before the click is no act of the user, though it arrived afterwards.
    clicked = view.heard.index(({"clicked": True}, True))
    assert [acted for _, acted in view.heard[:clicked]] == [False] * clicked


async def test_a_renderer_that_dies_is_told(shown: Shown) -> None:
    view = shown(script("say({ ready: true });"))
    await heard(view)
    os.kill(view.page().renderProcessPid(), 9)
    await until(lambda: view.deaths)


async def test_a_page_that_hangs_holds_nobody_up(shown: Shown) -> None:
    view = shown(script("say({ ready: true }); setTimeout(() => { while (true); }, 300);"))
    await heard(view)
    await asyncio.sleep(1.0)
    started = asyncio.get_running_loop().time()
    view.say({"x": 1})
    await asyncio.sleep(0.2)
    assert asyncio.get_running_loop().time() - started < 0.6


async def test_the_page_of_moots_own_question_answers_when_it_is_clicked(shown: Shown) -> None:
    question = await prompt_user("Which?", "options", ["CSV", "JSON & <b>more</b>"])
    page = read_page(question.resources)
    view = shown(page.text)
    await until(lambda: view.isVisible())
    await asyncio.sleep(1.0)
    # The second button: below the question, right of the first.
    where = view.focusProxy()
    for x in range(60, 200, 10):
        QTest.mouseClick(where, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(x, 60))
        await asyncio.sleep(0.15)
        if view.heard:
            break
    assert view.heard[0] in [
        ({"type": "prompt", "payload": {"prompt": answer}}, True) for answer in ("CSV", "JSON & <b>more</b>")
    ]
    await asyncio.sleep(0.3)
    assert len(view.heard) == 1


APP = """<p id="told"></p><script type="module">%s
const app = new App({ name: "Day", version: "1.0.0" }, {});
const seen = {};
app.ontoolinput = input => { seen.input = input.arguments; };
app.ontoolresult = result => { seen.result = result.content; finish(); };
async function finish() {
  seen.theme = app.getHostContext().theme;
  seen.host = app.getHostVersion().name;
  try { await app.callServerTool({ name: "day", arguments: { n: 1 } }); } catch (error) { seen.refused = error.message; }
  seen.link = await app.openLink({ url: "https://a.b/" });
  await app.sendLog({ level: "info", data: JSON.stringify(seen) });
  await app.sendMessage({ role: "user", content: [{ type: "text", text: "Monday" }] });
}
await app.connect();
</script>"""


@pytest.mark.skipif(not CLIENTS, reason="needs MCP_UI_CLIENTS")
async def test_a_page_made_with_the_published_kit_of_mcp_apps_finds_its_host(shown: Shown) -> None:
    kit = Path(CLIENTS) / "node_modules/@modelcontextprotocol/ext-apps/dist/src/app-with-deps.js"
    code = kit.read_text(encoding="utf-8").replace("</script", "<\\/script")
    exported = re.search(r"export\s*\{(.*?)\}\s*;?\s*$", code, re.DOTALL)
    assert exported is not None
    names = dict(
        reversed(pair.split(" as ")) if " as " in pair else (pair, pair)
        for pair in (one.strip() for one in exported[1].split(","))
    )
    code = code[: exported.start()] + f";const App = {names['App']};"
    view = shown(APP % code)
    actions = []
    facts = PageFacts(dark=True, language="en", arguments='{"which": "fair"}', content="Which day?")
    talk = PageTalk(facts, view.say)

    def take(text: str, _acted: bool) -> None:
        action = talk.take(text)
        if action is not None and action.kind != "size":
            actions.append(action)
            if action.refusal is not None:
                view.say(action.refusal)

    view.said.connect(take)
    await until(lambda: any(one.kind == "prompt" for one in actions))
    assert [one.kind for one in actions] == ["tool", "link", "notify", "prompt"]
    tool, link, seen, prompt = actions
    assert (tool.text, tool.arguments) == ("day", '{"n": 1}')
    assert (link.text, prompt.text) == ("https://a.b/", "Monday")
    told = json.loads(seen.text)
    assert "did not allow" in told.pop("refused")
    assert told == {
        "input": {"which": "fair"},
        "result": [{"type": "text", "text": "Which day?"}],
        "theme": "dark",
        "host": "Moot",
        "link": {},
    }
