"""External agents as models: puts a request into one prompt, and asks the agent host."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

from app.children import process_tree
from app.children.host_client import HostClient, HostProcess, Line
from app.children.private_files import make_private_folder
from app.children.processes import AGENT_HOST, system_environment, user_environment
from app.core.errors import FailureKind, ProviderError
from app.core.external_agents import FOLDER, RECIPES, AgentRecipe, recipe_of
from app.core.provider import Delta, Finished, ModelRequest, ProviderConfig, TestResult, Text
from app.core.text import clean_text
from app.providers.agent_host.host import read_record, write_record

_FIRST_TEXT_SECONDS = 180.0
_IDLE_SECONDS = 120.0
_PROMPT_BYTES = 400_000
# Marks the processes of external agents.
_MARK = "MOOT_AGENTS"
_OPENING = "This is the conversation so far. Answer with your next contribution only."
# Programs put a file's content in place of such words.
_MENTION = re.compile(r"@(?=[/~.\\\"'`]|[A-Za-z]:)")


class ExternalAgents(HostClient):
    """Asks external agents through their host, which it starts when one is first needed.

    `allowed` says whether the user allowed a program to run; `folder` is for the empty folders the programs run in and for the record
    of processes; `redact` removes the known keys.
    """

    def __init__(
        self,
        *,
        allowed: Callable[[ProviderConfig], bool],
        folder: Path,
        redact: Callable[[str], str] = lambda text: text,
        log_dir: Path | None = None,
    ) -> None:
        super().__init__(AGENT_HOST, redact=redact, log_dir=log_dir)
        self._allowed = allowed
        self._folder = folder
        self._record = folder / "processes.json"
        self._processes: dict[int, int] = {}
        self._ending: asyncio.Task[None] | None = None

    async def end_left(self) -> None:
        """End the processes that a run before could not end, because it was killed together with its host."""
        await asyncio.to_thread(self._end_recorded)

    async def stream(self, config: ProviderConfig, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Ask an external agent, as `core.provider.Models.stream` does."""
        line = await self._line("speak", config, request)
        host = await self._running_host()
        call = host.open(line)
        ended = spoke = False
        try:
            while True:
                answer = await call.lines.get()
                if answer is None:
                    ended = True
                    raise ProviderError(FailureKind.INTERRUPTED if spoke else FailureKind.HOST)
                if "finished" in answer:
                    ended = True
                    yield Finished(**answer["finished"])
                    return
                if "error" in answer:
                    ended = True
                    raise self._error(answer["error"])
                spoke = True
                yield Text(
                    text=clean_text(answer.get("text", "")), thinking=clean_text(answer.get("thinking", ""))
                )
        finally:
            host.close_call(call, cancel=not ended)

    async def test(self, config: ProviderConfig) -> TestResult:
        """Start an external agent and open a session; costs no tokens. Never raises ProviderError."""
        started = asyncio.get_running_loop().time()
        model = config.models[0] if config.models else ""
        try:
            line = await self._line(
                "test", config, ModelRequest(provider=config.id, model=model, messages=())
            )
            answer = await self._ask_once(line) or {"error": {"kind": FailureKind.HOST, "detail": ""}}
        except ProviderError as error:
            return TestResult(ok=False, failure=error.kind, detail=error.detail)
        if "error" in answer:
            refused = self._error(answer["error"])
            return TestResult(ok=False, failure=refused.kind, detail=refused.detail)
        told = answer["tested"]
        return TestResult(
            ok=True,
            seconds=asyncio.get_running_loop().time() - started,
            model=clean_text(told["model"])[:200],
            models=tuple(clean_text(one)[:200] for one in told["models"][:500]),
        )

    async def close(self) -> None:
        """End the host and all programs, and wait until they are gone."""
        await super().close()
        if self._ending is not None:
            await self._ending
        if self._processes:
            await self.end_left()

    def _failure(self, detail: str) -> Exception:
        return ProviderError(FailureKind.HOST, detail)

    def _on_line(self, line: Line) -> None:
        self._processes = dict(line["processes"])

    def _on_died(self, host: HostProcess) -> None:
        self._ending = asyncio.create_task(self.end_left())

    async def _running_host(self) -> HostProcess:
        # A program that a dead host left behind ends before its successor starts another one.
        if self._ending is not None:
            await asyncio.shield(self._ending)
        return await super()._running_host()

    def _end_recorded(self) -> None:
        known = {**read_record(self._record), **self._processes}
        if known:
            # What was started just before a kill may not be recorded yet.
            process_tree.end_processes({*known.items(), *process_tree.marked(f"{_MARK}={self._record}")})
            write_record(self._record, [])
        self._processes = {}

    async def _line(self, op: str, config: ProviderConfig, request: ModelRequest) -> dict[str, Any]:
        if not self._allowed(config):
            raise ProviderError(FailureKind.AGENT_NOT_ALLOWED)
        recipe = recipe_of(config.recipe)
        system, prompt = as_prompt(request.messages)
        if len(prompt.encode("utf-8", "replace")) > _PROMPT_BYTES:
            raise ProviderError(FailureKind.CONTEXT_WINDOW, f"{len(prompt)} characters")
        try:
            files, folder = await asyncio.to_thread(_prepared, self._folder, recipe)
        except OSError as error:
            raise ProviderError(FailureKind.HOST, f"{self._folder}: {error.strerror}") from error
        own = user_environment()
        variables = {name: value.replace(FOLDER, str(files)) for name, value in recipe.variables.items()}
        named = {name: own[name] for name in config.env if name in own}
        return {
            "op": op,
            "key": f"{config.id} {config.fingerprint[:12]}",
            "command": config.command,
            "args": [one.replace(FOLDER, str(files)) for one in config.args],
            # The host looks for the command on the PATH of the login shell too.
            "env": {**_without_path(system_environment()), **named, **variables, _MARK: str(self._record)},
            "folder": str(folder),
            "record": str(self._record),
            "session": recipe.session,
            "system_prompt": recipe.system_prompt,
            "mode": recipe.mode,
            "careful": recipe not in RECIPES,
            "hosted": recipe.hosted,
            "message_ids": recipe.message_ids,
            "notices": recipe.notices,
            "complaints": recipe.complaints,
            "model": request.model,
            "system": system,
            "opening": _OPENING,
            "prompt": prompt,
            "limits": {"first_token": _FIRST_TEXT_SECONDS, "idle": _IDLE_SECONDS},
        }

    def _error(self, error: Mapping[str, Any]) -> ProviderError:
        return ProviderError(error["kind"], self.clean(error["detail"]))


def as_prompt(messages: tuple[Mapping[str, object], ...]) -> tuple[str, str]:
    """Return the system text and all other messages of a request as texts, in which no words are taken for a file's name."""
    system, said = [], []
    for message in messages:
        text = _MENTION.sub("@ ", _text(message.get("content")))
        if message.get("role") == "system":
            system.append(text)
        else:
            said.append(f"[You, earlier]: {text}" if message.get("role") == "assistant" else text)
    return "\n\n".join(system), "\n\n".join(said)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n\n".join(one["text"] for one in parts if isinstance(one, dict) and one.get("type") == "text")


def _without_path(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name != "PATH"}


def _prepared(root: Path, recipe: AgentRecipe) -> tuple[Path, Path]:
    """Write the files of a recipe; return their folder, and the empty one in which the program runs. Raises OSError."""
    files, empty = root / recipe.name / "files", root / recipe.name / "empty"
    make_private_folder(files)
    make_private_folder(empty)
    for name, text in recipe.files.items():
        (files / name).write_text(text, encoding="utf-8")
    return files, empty
