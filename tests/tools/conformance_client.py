"""A client for MCP's conformance tests: `conformance_client.py ADDRESS` connects through the tool host, as the window does.

It logs in where that is asked for, following the login's page itself, and calls every tool.
"""

import asyncio
import json
import os
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from app.core.message import Prompt, form_text
from app.core.servers import McpServer
from app.core.tool import ServerProblem, ServerState, ToolError
from tests.tools.serving import Bench, Context, bench

_DOCUMENT = "https://conformance-test.local/client-metadata.json"
_PROPERTIES = {"a": 2, "b": 3}


class AllDefaults(Context):
    """Answers each form with the values it suggests, as a user does who only presses the button."""

    async def ask(self, prompt: Prompt) -> str | None:
        return form_text({one.key: one.default for one in prompt.fields})


async def visit(url: str) -> bool:
    """Follow the redirects of a login's page, to the address where Moot listens."""

    def open_page() -> None:
        try:
            with urllib.request.urlopen(url, timeout=10) as page:
                page.read()
        except urllib.error.HTTPError as error:
            error.close()

    asyncio.get_running_loop().run_in_executor(None, open_page)
    return True


async def use(one: Bench, client: dict[str, str] | None) -> None:
    """Log in where that is needed, and call the tools; again where a call needs another login."""
    for _ in range(3):
        status = one.status("tested")
        if status.problem in (ServerProblem.LOGIN, ServerProblem.CLIENT):
            await one.servers.login("tested", visit, client)
        if one.status("tested").state != ServerState.CONNECTED:
            break
        for tool in one.servers.server_tools(("tested",)):
            arguments: dict[str, Any] = {
                name: _PROPERTIES[name]
                for name in tool.parameters.get("properties", {})
                if name in _PROPERTIES
            }
            try:
                print((await tool.run(arguments, AllDefaults())).content, file=sys.stderr)
            except ToolError as error:
                print(error, file=sys.stderr)
        if one.status("tested").problem != ServerProblem.LOGIN:
            break
    print(one.status("tested"), file=sys.stderr)


async def main(url: str) -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    # What a user would enter as the client's ID and its secret.
    client = None
    if "client_id" in context:
        secret = context.get("client_secret") or context.get("private_key_pem", "")
        client = {"client_id": context["client_id"], "client_secret": secret}
    elif scenario == "auth/basic-cimd":
        client = {"client_id": _DOCUMENT, "client_secret": ""}
    with tempfile.TemporaryDirectory() as folder:
        async with bench(Path(folder)) as one:
            await one.connect(McpServer(name="tested", url=url))
            await use(one, client)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
