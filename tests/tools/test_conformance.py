"""MCP's own conformance tests of clients, through the tool host; skipped without the program and Node 22.

`npm install --ignore-scripts --prefix FOLDER @modelcontextprotocol/conformance@0.1.16`, and MCP_TEST_SERVERS names the folder
`FOLDER/node_modules/.bin`, and that of a `node` of version 22.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.test_mcp_third_party import FOLDERS, command

PASSED = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
)
MISSED = {
    # The metadata of that server name another issuer than its own address, which RFC 8414 (3.3) forbids and the protocol of 2025-03-26
    # asks to follow. Without a resource's own metadata nothing else ties a login to the server: taking the name would let a server
    # send users to the login of another one, and have the code that comes back.
    "auth/2025-03-26-oauth-metadata-backcompat": "issuer mismatch",
    # A company's identity provider hands the login on, without a user: there is nowhere to enter one.
    "auth/cross-app-access-complete-flow": "jwt-bearer",
}
CLIENT = Path(__file__).parent / "conformance_client.py"


def node() -> str:
    """Return the first Node on the path that is new enough."""
    for folder in (*FOLDERS.split(os.pathsep), *os.environ["PATH"].split(os.pathsep)):
        program = Path(folder) / "node"
        if folder and program.is_file():
            told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
            if int(told.lstrip("v").partition(".")[0] or 0) >= 22:
                return str(program)
    pytest.skip("Node 22 is not installed")


async def run(scenario: str, folder: Path) -> tuple[int, str]:
    """Run a scenario; return its exit status and what the client told."""
    program = Path(await asyncio.to_thread(lambda: os.path.realpath(command("conformance"))))
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    process = await asyncio.create_subprocess_exec(
        await asyncio.to_thread(node),
        str(program),
        "client",
        "--command",
        f"{sys.executable} {CLIENT}",
        "--scenario",
        scenario,
        "--timeout",
        "90000",
        "-o",
        str(folder),
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        status = await asyncio.wait_for(process.wait(), 120)
    finally:
        if process.returncode is None:
            process.kill()
    told = await asyncio.to_thread(
        lambda: "".join(file.read_text("utf-8") for file in sorted(folder.rglob("stderr.txt")))
    )
    return status, told


@pytest.mark.slow
@pytest.mark.timeout(150)
@pytest.mark.parametrize("scenario", PASSED)
async def test_a_scenario_is_passed(scenario: str, tmp_path: Path) -> None:
    status, told = await run(scenario, tmp_path)
    assert status == 0, told


@pytest.mark.slow
@pytest.mark.timeout(150)
@pytest.mark.parametrize("scenario", MISSED)
async def test_a_scenario_that_is_not_passed_fails_for_its_reason(scenario: str, tmp_path: Path) -> None:
    status, told = await run(scenario, tmp_path)
    assert status != 0 and MISSED[scenario] in told, told
