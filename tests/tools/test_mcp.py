"""MCP servers from the window: consent, tools, calls, questions; every server a real process."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from app.children.host_client import HostNetwork
from app.children.processes import use_variables
from app.core.message import PromptType
from app.core.servers import McpServer
from app.core.tool import Control, ServerProblem, ServerState, ToolError
from app.storage.secrets import MARK
from app.tools.toolbox import ServerLimits
from tests.tools.serving import Context, bench, proper, rude, until


@pytest.mark.threat("T11")
async def test_nothing_starts_without_consent(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.documents.change_mcp_servers(lambda _: (proper(),))
        await one.servers.attach(["proper"])
        assert one.status("proper").state == ServerState.ASKING
        assert one.servers.server_tools(["proper"]) == ()
        await one.servers.restart("proper")
        assert one.host.host_pid is None


@pytest.mark.threat("T11")
async def test_a_disabled_server_is_off_even_when_allowed(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper(disabled=True))
        assert one.status("proper").state == ServerState.OFF
        assert one.host.host_pid is None


@pytest.mark.own_host
async def test_a_proper_server_is_connected_and_called(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper(env={"TOKEN": "secret-token"}))
        status = one.status("proper")
        assert status.state == ServerState.CONNECTED
        assert "proper__add" in status.tools
        tool = one.tool("proper", "add")
        assert tool.asks and not tool.repeatable and tool.group == "proper"
        assert tool.parameters["required"] == ["a", "b"]
        assert await one.call("proper", "add", a=1, b=2) == "3"

        result = await one.tool("proper", "fail").run({}, Context())
        assert not result.ok and "fail" in result.content
        result = await one.tool("proper", "add").run({"a": "x"}, Context())
        assert not result.ok and "integer" in result.content

        cut = await one.call("proper", "long", characters=300_000)
        assert len(cut) < 200_100 and cut.endswith("[cut: 100000 more characters]")


@pytest.mark.threat("T13")
async def test_a_server_gets_the_listed_variables_and_its_own(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "of the user")
    monkeypatch.setenv("OPENAI_API_KEY", "of the user")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:8080")
    async with bench(data_dir) as one:
        await one.connect(proper(env={"TOKEN": "secret-token", "MODE": "on"}))
        variables = json.loads(await one.call("proper", "environment"))
        assert (variables["TOKEN"], variables["MODE"]) == (MARK, "on")
        assert variables["HTTPS_PROXY"] == "http://proxy.test:8080"
        assert not set(variables) & {"GITHUB_TOKEN", "OPENAI_API_KEY", "MOOT_PARENT", "PYTHONPATH"}


async def test_a_server_connects_again_with_the_proxy_that_was_chosen(data_dir: Path, tmp_path: Path) -> None:
    async with bench(data_dir) as one:
        network = HostNetwork(tmp_path / "certificates.pem", (one.host,))
        await one.connect(proper())
        before = one.host.host_pid
        assert "HTTPS_PROXY" not in json.loads(await one.call("proper", "environment"))
        await network.use("http://proxy.example:8080", "")
        assert one.host.host_pid is None
        assert one.status("proper").state == ServerState.DOWN
        variables = json.loads(await one.call("proper", "environment"))
        assert variables["HTTPS_PROXY"] == "http://proxy.example:8080"
        assert one.host.host_pid != before and before is not None
        assert one.status("proper").state == ServerState.CONNECTED
    use_variables({})


async def test_a_page_stops_the_loop_and_goes_with_the_result(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper())
        result = await one.tool("proper", "page").run({}, Context())
        assert result.control == Control.WAIT
        assert result.content == "A form\n[image-1.png, image/png, 3 bytes: broken, not shown]"
        [page] = result.resources
        assert page["type"] == "resource"
        assert page["resource"] == {"uri": "ui://form/1", "mimeType": "text/html", "text": "<p>Hello</p>"}
        result = await one.tool("proper", "clock").run({}, Context())
        assert (result.control, result.content) == (Control.WAIT, "twelve")
        assert "It is time" in str(result.resources)
        assert (await one.tool("proper", "add").run({"a": 1, "b": 1}, Context())).control == Control.CONTINUE


async def test_a_server_of_the_new_kind_asks_in_the_call_it_asks_for(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper())
        first, second = Context("name=Ada; old=yes"), Context("name=Grace; old=")
        answers = await asyncio.gather(
            one.call("proper", "greet", first), one.call("proper", "greet", second)
        )
        assert answers == ["Hello Ada, True", "Hello Grace, False"]
        result = await one.tool("proper", "greet").run({}, Context(None))
        assert not result.ok


async def test_calls_run_side_by_side_and_a_cancelled_one_ends_in_the_server(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper())
        started = asyncio.get_running_loop().time()
        await asyncio.gather(*(one.call("proper", "slow", seconds=0.5) for _ in range(5)))
        assert asyncio.get_running_loop().time() - started < 2

        call = asyncio.create_task(one.call("proper", "slow", seconds=60))
        await until(lambda: "slow 60" in one.log("proper"))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: "slow was cancelled" in one.log("proper"))
        assert await one.call("proper", "add", a=1, b=1) == "2"


@pytest.mark.threat("T12")
async def test_a_changed_command_asks_again(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper())
        tool = one.tool("proper", "add")
        await one.documents.change_mcp_servers(lambda _: (proper(cwd=str(data_dir)),))
        assert one.status("proper").state == ServerState.ASKING
        with pytest.raises(ToolError, match="not allowed"):
            await tool.run({"a": 1, "b": 2}, Context())
        await one.servers.attach(["proper"])
        assert one.status("proper").state == ServerState.ASKING


@pytest.mark.threat("T12")
async def test_a_tool_that_changes_while_connected_is_not_offered_until_allowed(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("changes"))
        tool = one.tool("changes", "add")
        await tool.run({"a": 1, "b": 2}, Context())
        await until(lambda: one.status("changes").state == ServerState.ASKING)
        status = one.status("changes")
        assert set(status.changed) == {"changes__add", "changes__new"}
        assert status.tools == () and one.servers.server_tools(["changes"]) == ()
        with pytest.raises(ToolError, match="after the user allowed it"):
            await tool.run({"a": 1, "b": 2}, Context())

        await one.servers.consent("changes")
        assert one.status("changes").state == ServerState.CONNECTED
        assert "Mallory" in one.tool("changes", "add").description


async def test_a_server_of_the_new_kind_is_listened_to_for_new_tools(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(proper())
        assert await one.call("proper", "grow") == "grown"
        await until(lambda: one.status("proper").changed == ("proper__late",))
        assert await one.call("proper", "add", a=1, b=1) == "2"
        await one.servers.consent("proper")
        assert await one.call("proper", "late") == "late"


@pytest.mark.threat("T14")
async def test_a_lasting_permission_is_for_the_tool_as_it_was_and_can_be_revoked(
    data_dir: Path, tmp_path: Path
) -> None:
    server = rude("later_changed", str(tmp_path / "changed"))
    async with bench(data_dir) as one:
        await one.connect(server, proper())
        add, fail = one.tool("proper", "add"), one.tool("proper", "fail")
        assert (add.reads, fail.reads) == (False, True)
        changing = one.tool("later_changed", "add")
        await one.servers.permit((add.consent, fail.consent, changing.consent, "unknown/tool"))
        assert one.status("proper").unasked == ("proper__add", "proper__fail")
        await one.servers.ask_again("proper")
        assert one.status("proper").unasked == ()
        await one.servers.permit((add.consent,))
        (tmp_path / "changed").touch()
        await one.servers.restart("later_changed")
        await one.servers.consent("later_changed")
        assert one.tool("later_changed", "add").asks, "allowed in its new form, but it asks"
        # An answer to a question that was asked before comes late.
        await one.servers.permit((changing.consent,))
        assert (one.status("later_changed").lasting, one.status("proper").lasting) == (0, 1)
        assert not any(consent.startswith("unknown/") for consent in one.documents.consents())
    async with bench(data_dir) as again:
        await again.documents.load()
        await again.servers.attach(["proper"])
        assert not again.tool("proper", "add").asks
        assert again.tool("proper", "slow").asks
        await again.servers.consent("proper")
        assert not again.tool("proper", "add").asks, "consent to what has not changed takes nothing back"
        await again.servers.withdraw("proper")
        await again.servers.consent("proper")
        assert again.tool("proper", "add").asks


@pytest.mark.threat("T12")
async def test_a_tool_that_changed_between_two_starts_is_not_offered(data_dir: Path, tmp_path: Path) -> None:
    mark = tmp_path / "changed"
    async with bench(data_dir) as one:
        await one.connect(rude("later_changed", str(mark)))
        assert one.status("later_changed").tools == ("later_changed__add",)
        mark.touch()
        await one.servers.restart("later_changed")
        assert one.status("later_changed").state == ServerState.ASKING
        assert one.status("later_changed").changed == ("later_changed__add",)
    mark.unlink()
    async with bench(data_dir) as again:
        # Consents are kept, and hold for the tool as it was.
        await again.documents.load()
        await again.servers.attach(["later_changed"])
        assert again.status("later_changed").state == ServerState.CONNECTED


WIPE = {
    "name": "wipe",
    "description": "Delete all.",
    "inputSchema": {"type": "object"},
    "annotations": {"destructiveHint": True},
}
READS = {"readOnlyHint": True}
SAID_ANEW = {
    "reads": ([{**WIPE, "annotations": READS}], {"wipe": ("reads",)}),
    "deletes no more": ([{**WIPE, "annotations": {}}], {"wipe": ("effects",)}),
    "deletes, in other words": (
        [{**WIPE, "annotations": {**WIPE["annotations"], "title": "Tidy up"}}],
        {"wipe": ("deletes",)},
    ),
    "page": ([{**WIPE, "_meta": {"ui": {"resourceUri": "ui://a"}}}], {"wipe": ("page",)}),
    "two parts": (
        [{**WIPE, "description": "Read.", "inputSchema": {"type": "object", "required": ["a"]}}],
        {"wipe": ("description", "schema")},
    ),
    "another": ([WIPE, {**WIPE, "name": "more", "annotations": READS}], {"more": ("tool",)}),
}


@pytest.mark.threat("T12")
@pytest.mark.parametrize(("tools", "changes"), SAID_ANEW.values(), ids=list(SAID_ANEW))
async def test_a_consent_is_bound_to_all_that_a_tool_says_of_itself(
    data_dir: Path, tmp_path: Path, tools: list[dict[str, Any]], changes: dict[str, tuple[str, ...]]
) -> None:
    listed = tmp_path / "tools.json"
    listed.write_text(json.dumps([WIPE]))
    async with bench(data_dir) as one:
        await one.connect(rude("listed", str(listed)))
        wipe = one.tool("listed", "wipe")
        await one.servers.permit((wipe.consent,))
        assert (one.status("listed").unasked, wipe.reads) == (("listed__wipe",), False)
        listed.write_text(json.dumps(tools))
        await one.servers.restart("listed")
        status = one.status("listed")
        assert status.state == ServerState.ASKING
        assert status.changes == {f"listed__{name}": codes for name, codes in changes.items()}
        offered = {one.key for one in one.servers.server_tools(["listed"])}
        assert offered == ({"listed__wipe"} if "more" in changes else set())
        if "more" not in changes:
            with pytest.raises(ToolError, match="after the user allowed it"):
                await wipe.run({}, Context())
        await one.servers.consent("listed")
        changed = one.tool("listed", next(iter(changes)))
        assert changed.asks, "a lasting permission is for the tool as it was"
        assert one.status("listed").changes == {}


@pytest.mark.threat("T12")
async def test_a_consent_of_before_annotations_were_kept_is_asked_for_once_more(
    data_dir: Path, tmp_path: Path
) -> None:
    listed = tmp_path / "tools.json"
    listed.write_text(json.dumps([WIPE]))
    async with bench(data_dir) as one:
        server = rude("listed", str(listed))
        await one.documents.change_mcp_servers(lambda _: (server,))
        old = f"{server.fingerprint}/{'0' * 64}"
        known = {server.fingerprint, f"{server.fingerprint}/", old, f"{old}/always"}
        await one.documents.change_consents(lambda _: frozenset(known))
        await one.servers.attach(["listed"])
        status = one.status("listed")
        assert (status.state, status.changes) == (ServerState.ASKING, {"listed__wipe": ("unknown",)})
        assert one.servers.server_tools(["listed"]) == ()
        await one.servers.consent("listed")
        assert one.status("listed").state == ServerState.CONNECTED
        assert one.tool("listed", "wipe").asks
        assert not any(consent.startswith(old) for consent in one.documents.consents())
    async with bench(data_dir) as again:
        await again.documents.load()
        await again.servers.attach(["listed"])
        assert again.status("listed").state == ServerState.CONNECTED, "asked once"


@pytest.mark.threat("T12")
@pytest.mark.parametrize(("how", "shown"), [("at once", 8), ("in turn", 32)])
async def test_the_questions_of_a_call_are_limited_and_the_user_is_told_once(
    data_dir: Path, how: str, shown: int
) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("asks_much", how))
        for _ in range(2):
            context = Context(*(["yes"] * 40 if how == "in turn" else ()))
            refused = 12 if how == "at once" else 8
            assert await one.call("asks_much", "add", context) == f"{refused} refused"
            # The server may end the call before the last open ones are shown.
            assert len(context.asked) == shown or (how == "at once" and len(context.asked) < shown)
            assert [told.refused for told in context.reported] == [True]


async def test_a_missing_command_is_named_with_where_it_was_looked_for(
    data_dir: Path, tmp_path: Path
) -> None:
    async with bench(data_dir) as one:
        await one.connect(McpServer(name="gone", command="no-such-program"))
        assert one.status("gone").state == ServerState.DOWN
        assert one.status("gone").problem == ServerProblem.NOT_FOUND
        assert "'no-such-program' was not found. Looked in: " in one.status("gone").detail


async def test_the_path_of_the_login_shell_finds_a_command(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "only here"
    folder.mkdir()
    command = folder / "my-server"
    entry = proper()
    command.write_text(f'#!/bin/sh\nexec "{entry.command}" "{entry.args[0]}"\n')
    command.chmod(0o755)
    shell = tmp_path / "shell"
    shell.write_text(f'#!/bin/sh\necho Welcome\nPATH="$PATH:{folder}"\nshift\neval "$1"\n')
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    async with bench(data_dir) as one:
        await one.connect(McpServer(name="mine", command="my-server"))
        assert one.status("mine").state == ServerState.CONNECTED, one.status("mine").detail


async def test_the_questions_of_a_server_of_the_old_kind_are_put_as_one_form(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("asks"))
        context = Context("sure=yes; size=large; count=5")
        answer = json.loads(await one.call("asks", "add", context))
        assert answer == {"action": "accept", "content": {"sure": True, "size": "large", "count": 5}}
        [prompt] = context.asked
        assert (prompt.type, prompt.question) == (PromptType.FORM, "asks: A few things first")
        fields = {field.key: field for field in prompt.fields}
        assert [fields[name].kind for name in ("sure", "size", "count")] == ["yesno", "one", "integer"]
        assert fields["size"].options == ("small", "large")
        assert (fields["count"].least, fields["count"].most) == (1, 9)

        assert json.loads(await one.call("asks", "add", Context(None)))["action"] == "cancel"
        wrong = Context("sure=yes; size=large; count=12")
        assert json.loads(await one.call("asks", "add", wrong))["action"] == "decline"


@pytest.mark.threat("T22")
async def test_a_link_is_asked_about_and_one_that_is_no_https_is_declined(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("asks", "url"))
        context = Context("yes")
        assert json.loads(await one.call("asks", "add", context)) == {"action": "accept"}
        assert context.asked[0].question == "asks: Log in\nhttps://a.test/x"
        await one.connect(rude("asks", "bad_url"))
        context = Context("yes")
        assert json.loads(await one.call("asks", "add", context)) == {"action": "decline"}
        assert not context.asked


async def test_a_server_that_does_not_wait_for_its_answer_takes_the_question_back(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("asks", "impatient"))
        context = Context()
        for _ in range(2):
            async with asyncio.timeout(10):
                assert await one.call("asks", "add", context) == "never mind"
        assert context.given_up == len(context.asked) == 2


async def test_a_question_holds_the_time_and_ends_with_its_call(data_dir: Path) -> None:
    async with bench(data_dir, ServerLimits(call=0.5)) as one:
        await one.connect(rude("asks"))
        waiting = Context()
        call = asyncio.create_task(one.call("asks", "add", waiting))
        await until(lambda: bool(waiting.asked))
        await asyncio.sleep(1.5)
        assert not call.done()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
