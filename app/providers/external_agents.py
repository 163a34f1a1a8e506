"""External agents as models: puts a request into one prompt, and asks the agent host.

The messages of Moot are the truth. A session of an agent is a cache of them: it is gone on with only where it
was told exactly what came before.
"""

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from app.children.host_client import HostClient, HostProcess, Line
from app.children.private_files import make_private_folder, replace_text
from app.children.processes import AGENT_HOST, end_processes, marked, system_environment, user_environment
from app.core import provider
from app.core.catalog import DEFAULT_MODEL, FOLDER, RECIPES, AgentRecipe, ProviderConfig, recipe_of
from app.core.errors import FailureKind, ProviderError
from app.core.ids import new_id
from app.core.json_values import as_object, object_in
from app.core.message import Usage
from app.core.owned_tasks import start_owned
from app.core.provider import AgentAct, AgentAsk, Delta, Finished, ModelFacts, ModelRequest, TestResult, Text
from app.core.texts import clean_text, clean_values
from app.providers.agent_host.host import UNSEEN, read_record, write_record
from app.providers.fact_book import FactBook

# Where an answer's state names its session.
_SESSION = "agent_session"
_MOST = 300

Item = Mapping[str, object]


class KeptSessions:
    """Knows what each session was told last; `path` is the file that keeps it over a restart.

    A session that is not in it has been asked since and was cut off, or is one of another conversation by
    now.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: dict[str, str] | None = None
        # Turns of several agents come from threads of their own.
        self._lock = threading.Lock()

    def take(self, request: ModelRequest, key: str) -> tuple[str, Sequence[Item]]:
        """Return the session that knows a request up to its last answer, and what is new to it; ("", ())
        where none does.

        `key` names the program and the folder. The session is not offered again until its turn has ended
        well.
        """
        messages = request.messages
        place = next((at for at in reversed(range(len(messages))) if _SESSION in messages[at]), -1)
        kept = as_object(messages[place].get(_SESSION) if place >= 0 else None)
        seen, session, unread = kept.get("seen"), str(kept.get("id")), messages[place + 1 :]
        if kept.get("key") != key or not request.folder or not isinstance(seen, int) or not 0 < seen <= place:
            return "", ()
        others_spoke = any(message.get("role") == "user" for message in messages[seen:place])
        if not unread or others_spoke or any(item.get("role") != "user" for item in unread):
            return "", ()
        digest = _digest(messages[:seen])
        with self._lock:
            if kept.get("digest") != digest or self._known().get(session) != digest:
                return "", ()
            del self._known()[session]
            self._save()
        return session, unread

    def keep(self, session: str, key: str, request: ModelRequest) -> Mapping[str, object] | None:
        """Note that a turn has ended well; return what its answer keeps, None without a session."""
        if not session:
            return None
        digest = _digest(request.messages)
        with self._lock:
            known = self._known()
            known.pop(session, None)
            known[session] = digest
            for old in list(known)[:-_MOST]:
                del known[old]
            self._save()
        return {_SESSION: {"id": session, "key": key, "seen": len(request.messages), "digest": digest}}

    def _known(self) -> dict[str, str]:
        if self._last is None:
            self._last = {}
            with suppress(OSError):
                found = object_in(self._path.read_bytes()) or {}
                self._last = {str(name): str(value) for name, value in found.items()}
        return self._last

    def _save(self) -> None:
        """Write what is known; where that fails, sessions are told everything again after a restart."""
        try:
            replace_text(self._path, json.dumps(self._known()))
        except OSError:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def _digest(messages: Sequence[Item]) -> str:
    plain = [{name: value for name, value in message.items() if name != _SESSION} for message in messages]
    return sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


_PROMPT_BYTES = 400_000
# Of the pictures of a prompt, in base 64, the newest are sent.
_PICTURE_BYTES = 20_000_000
# Marks the processes of external agents.
_MARK = "MOOT_AGENTS"
_SHOWN_CALL = 400
_SHOWN_RESULT = 2_000
# Programs put a file's content in place of such words.
_MENTION = re.compile(r"@(?=[/~.\\\"'`]|[A-Za-z]:)")
_PICTURE = re.compile(r"data:([^;,]+);base64,")

Block = Mapping[str, str]


class ExternalAgents(HostClient):
    """Asks external agents through their host, which it starts when one is first needed.

    `allowed` says whether the user allowed a program to run; `folder` is for the empty folders the programs
    run in and for the record of processes; `book` is told what a program takes; `redact` removes the known
    keys. A program that nobody has used for `unused_seconds` is ended.
    """

    def __init__(
        self,
        *,
        allowed: Callable[[ProviderConfig], bool],
        folder: Path,
        book: FactBook | None = None,
        redact: Callable[[str], str] = lambda text: text,
        log_dir: Path | None = None,
        unused_seconds: float = 300.0,
    ) -> None:
        super().__init__(AGENT_HOST, redact=redact, log_dir=log_dir)
        self._allowed = allowed
        self._folder = folder
        self._book = book or FactBook()
        self._record = folder / "processes.json"
        self._kept = KeptSessions(folder / "sessions.json")
        self._processes: dict[int, int] = {}
        self._ending: asyncio.Task[None] | None = None
        self._unused_seconds = unused_seconds

    async def end_left(self) -> None:
        """End the processes that a run before could not end, because it was killed together with its host."""
        await asyncio.to_thread(self._end_recorded)

    async def stream(self, config: ProviderConfig, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Ask an external agent, as `core.provider.Models.stream` does."""
        line = await self._line("speak", config, request)
        async with aclosing(self._answer(line)) as answers:
            async for answer in answers:
                if (end := answer.get("finished")) is None:
                    yield _delta(answer)
                else:
                    state = await asyncio.to_thread(self._kept.keep, end["session"], line["key"], request)
                    yield Finished(reason=end["reason"], usage=Usage(**end["usage"]), state=state)

    def answer(self, ask: str, answer: str) -> None:
        """Answer a request for permission as its prompt was; nobody waits for one whose turn has ended."""
        turn, _, number = ask.partition(" ")
        for host in (self._host, *self._retiring.values()):
            if host is not None and host.alive:
                host.send({"id": new_id(), "op": "answer", "turn": turn, "ask": number, "answer": answer})

    async def test(self, config: ProviderConfig) -> TestResult:
        """Start an external agent and open a session; costs no tokens. Never raises ProviderError."""
        started = asyncio.get_running_loop().time()
        model = config.models[0] if config.models else ""
        request = ModelRequest(provider=config.id, model=model, messages=())
        try:
            told = (await self._last_line(await self._line("test", config, request)))["tested"]
        except ProviderError as error:
            return TestResult(ok=False, failure=error.kind, detail=error.detail)
        seconds = asyncio.get_running_loop().time() - started
        model, *models = (clean_text(item)[:200] for item in (told["model"], *told["models"][:500]))
        return TestResult(ok=True, seconds=seconds, model=model, models=tuple(models))

    async def close(self) -> None:
        """End the host and all programs, and wait until they are gone."""
        await super().close()
        if self._ending is not None:
            await self._ending
        if self._processes:
            await self.end_left()

    def _failure(self, detail: str, *, spoke: bool = False) -> Exception:
        return ProviderError(FailureKind.INTERRUPTED if spoke else FailureKind.HOST, detail)

    async def _refusal(self, answer: Line) -> Exception:
        return ProviderError(answer["error"]["kind"], self.clean(answer["error"]["detail"]))

    def on_line(self, line: Line) -> None:
        if "processes" in line:
            self._processes = dict(line["processes"])
        else:
            # All models of a program are sent what the program takes.
            facts = ModelFacts(images=line["images"], source=provider.FactSource.SERVER)
            self._book.note(line["provider"], DEFAULT_MODEL, facts)

    def on_host_died(self, host: HostProcess) -> None:
        self._ending = start_owned(self.end_left())

    async def _running_host(self) -> HostProcess:
        # A program that a dead host left behind ends before its successor starts another one.
        if self._ending is not None:
            await asyncio.shield(self._ending)
        return await super()._running_host()

    def _end_recorded(self) -> None:
        known = {**read_record(self._record), **self._processes}
        if known:
            # What was started just before a kill may not be recorded yet.
            end_processes({*known.items(), *marked(f"{_MARK}={self._record}")})
            write_record(self._record, [])
        self._processes = {}

    async def _line(self, op: str, config: ProviderConfig, request: ModelRequest) -> dict[str, Any]:
        if not self._allowed(config):
            raise ProviderError(FailureKind.AGENT_NOT_ALLOWED)
        recipe, works = recipe_of(config.recipe), bool(request.folder)
        system, prompt = as_prompt(request.messages)
        key = f"{config.id} {config.fingerprint[:12]} {request.folder}"
        resume, unread = await asyncio.to_thread(self._kept.take, request, key)
        _, news = as_prompt(unread)
        if (size := max(map(_text_bytes, (prompt, news)))) > _PROMPT_BYTES:
            raise ProviderError(FailureKind.CONTEXT_WINDOW, f"{size} bytes")
        try:
            files, folder = await asyncio.to_thread(_prepared, self._folder, recipe)
        except OSError as error:
            raise ProviderError(FailureKind.HOST, f"{self._folder}: {error.strerror}") from error
        if works:
            folder = Path(request.folder)
            if not await asyncio.to_thread(_can_work_in, folder):
                raise ProviderError(FailureKind.AGENT_FOLDER, request.folder)
        args, variables = config.args, recipe.work_variables if works else recipe.variables
        if works and recipe.work_args and config.args == recipe.args:
            args = recipe.work_args
        own = user_environment()
        # The host looks for the command on the PATH of the login shell too.
        env = {name: value for name, value in system_environment().items() if name != "PATH"}
        env |= {name: own[name] for name in config.env if name in own}
        env |= {name: value.replace(FOLDER, str(files)) for name, value in variables.items()}
        as_told = ("hosted", "message_ids", "notices", "complaints")
        line = {name: getattr(recipe, name) for name in as_told}
        line |= {"op": op, "key": key, "provider": config.id, "model": request.model, "works": works}
        line |= {"system": system, "prompt": prompt, "resume": resume, "news": news}
        line |= {"command": config.command, "args": [arg.replace(FOLDER, str(files)) for arg in args]}
        return line | {
            "env": env | {_MARK: str(self._record)},
            "folder": str(folder),
            "record": str(self._record),
            "unused_seconds": self._unused_seconds,
            "session": {} if works else recipe.session,
            "system_prompt": "append" if works and recipe.system_prompt else recipe.system_prompt,
            "mode": recipe.work_mode if works else recipe.mode,
            "careful": recipe not in RECIPES and not works,
        }


def as_prompt(messages: Sequence[Mapping[str, object]]) -> tuple[str, tuple[Block, ...]]:
    """Return the system text and all other messages of a request: texts, in which no words are taken
    for a file's name, and pictures.

    They are blocks of a prompt of the Agent Client Protocol.
    """
    system: list[str] = []
    said: list[Block] = []
    for message in messages:
        blocks, role = _blocks(message.get("content")), message.get("role")
        text = "\n\n".join(block["text"] for block in blocks if "text" in block)
        if role == "system":
            system.append(text)
        elif role == "assistant":
            said += [_block(f"[You, earlier]: {text}")] if text else []
            said += [_block(f"[You, earlier, did]: {call}") for call in _calls(message)]
        elif role == "tool":
            said.append(_block(f"[What came of it]: {text[:_SHOWN_RESULT]}"))
        else:
            said += blocks
    return _defused("\n\n".join(system)), _joined(said)


def _block(text: str) -> Block:
    return {"type": "text", "text": text}


def _blocks(content: object) -> list[Block]:
    """Return the texts and the pictures of a message's content."""
    if isinstance(content, str):
        return [_block(content)]
    blocks: list[Block] = []
    for part in content if isinstance(content, list) else ():
        if part["type"] == "text":
            blocks.append(_block(part["text"]))
        elif part["type"] == "image_url" and (match := _PICTURE.match(url := part["image_url"]["url"])):
            blocks.append({"type": "image", "mimeType": match[1], "data": url[match.end() :]})
    return blocks


def _joined(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Join texts that follow each other; of pictures that are too many for a prompt the oldest are left
    out.
    """
    joined: list[Block] = []
    room = _PICTURE_BYTES
    for block in reversed(blocks):
        room -= len(block.get("data", ""))
        if "data" in block and room >= 0:
            joined.append(block)
            continue
        text = _defused(block.get("text", UNSEEN))
        if joined and "text" in joined[-1]:
            text = f"{text}\n\n{joined.pop()['text']}"
        joined.append(_block(text))
    return tuple(reversed(joined))


def _text_bytes(blocks: Sequence[Block]) -> int:
    return sum(len(block.get("text", "").encode("utf-8", "replace")) for block in blocks)


def _defused(text: str) -> str:
    return _MENTION.sub("@ ", text)


def _calls(message: Mapping[str, object]) -> list[str]:
    calls = message.get("tool_calls")
    functions = [call["function"] for call in calls] if isinstance(calls, list) else []
    return [f"{function['name']} {function['arguments']}"[:_SHOWN_CALL] for function in functions]


def _delta(answer: Mapping[str, Any]) -> Delta:
    if act := answer.get("act"):
        return msgspec.convert(clean_values(act), AgentAct)
    if ask := answer.get("ask"):
        return msgspec.convert(clean_values({**ask, "id": f"{answer['id']} {ask['id']}"}), AgentAsk)
    return Text(text=clean_text(answer.get("text", "")), thinking=clean_text(answer.get("thinking", "")))


def _can_work_in(folder: Path) -> bool:
    return folder.is_absolute() and folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _prepared(root: Path, recipe: AgentRecipe) -> tuple[Path, Path]:
    """Write the files of a recipe; return their folder, and the empty one in which the program runs.
    Raises OSError.
    """
    files, empty = root / recipe.name / "files", root / recipe.name / "empty"
    make_private_folder(files)
    make_private_folder(empty)
    for name, text in recipe.files.items():
        (files / name).write_text(text, encoding="utf-8")
    return files, empty
