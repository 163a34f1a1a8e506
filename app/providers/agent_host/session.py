"""One turn of an external agent: a new session, the model and the mode as they were set, one prompt, and its answer."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from app.core.errors import FailureKind, ProviderError
from app.core.external_agents import DEFAULT_MODEL
from app.core.provider import FinishReason
from app.providers.agent_host.answer_text import AnswerText
from app.providers.agent_host.program import AgentProgram, Message

_START_SECONDS = 60.0
_CLOSE_SECONDS = 2.0
_CANCEL_SECONDS = 3.0
_ANSWER_BYTES = 2_000_000
# Words in the name of a mode that changes no files, for a program that is not in the table.
_CAREFUL = ("read", "plan", "ask")
_ENDS = {
    "end_turn": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "refusal": FinishReason.CONTENT_FILTER,
}


class AgentSession:
    """A session of a program, for one prompt. `line` is the request of Moot, `say` gets the pieces of the answer."""

    def __init__(
        self, program: AgentProgram, line: Mapping[str, Any], say: Callable[[Mapping[str, object]], None]
    ) -> None:
        self._program = program
        self._line = line
        self._say = say
        self._id = ""
        self._answer = AnswerText(line["message_ids"], tuple(line["notices"]), tuple(line["complaints"]))
        self._thought = 0
        self._heard = asyncio.Event()
        self._spoke = False
        self._prompted = False
        self._problem: ProviderError | None = None
        self._cut = ""
        self._cost: float | None = None
        self.model = ""
        self.models: tuple[str, ...] = ()
        self._mode = ""
        self._takes_system = False

    async def open(self) -> None:
        """Make the session, set its mode and its model, and compare them. Raises ProviderError where they differ."""
        line = self._line
        told = _object(self._program.told.get("agentCapabilities"))
        offers = _object(told.get("sessionCapabilities"))
        self._takes_system = bool(line["system_prompt"]) and offers.get("systemPrompt") is not None
        params: dict[str, Any] = {"cwd": line["folder"], "mcpServers": []}
        if line["session"]:
            params["_meta"] = line["session"]
        if self._takes_system:
            content = [{"type": "text", "text": line["system"]}]
            params["systemPrompt"] = {"mode": line["system_prompt"], "content": content}
        state = dict(await self._program.ask("session/new", params, _START_SECONDS))
        self._id = str(state.get("sessionId") or "")
        self._program.listeners[self._id] = self._on_update
        await self._choose_mode(state)
        await self._choose_model(state)

    async def speak(self) -> Mapping[str, object]:
        """Ask, passing on the answer; return how it ended. Raises ProviderError. Cancelling cancels it in the program."""
        line = self._line
        head = "" if self._takes_system or not line["system"] else f"{line['system']}\n\n"
        params = {
            "sessionId": self._id,
            "prompt": [{"type": "text", "text": line["opening"] + "\n\n" + head + line["prompt"]}],
        }
        self._prompted = True
        asking = asyncio.create_task(self._program.ask("session/prompt", params))
        try:
            await self._wait(asking)
        except BaseException:
            await self._cancel(asking)
            raise
        result = await asking
        self._pass_on(self._answer.rest())
        return self._ended(result)

    async def close(self) -> None:
        """Close the session, as far as the program can."""
        self._program.listeners.pop(self._id, None)
        told = _object(_object(self._program.told.get("agentCapabilities")).get("sessionCapabilities"))
        if self._id and told.get("close") is not None and self._program.alive:
            with contextlib.suppress(ProviderError):
                await self._program.ask("session/close", {"sessionId": self._id}, _CLOSE_SECONDS)

    async def _wait(self, asking: "asyncio.Task[Message]") -> None:
        """Return when the prompt is answered. Raises ProviderError where the turn must be cancelled."""
        limits = self._line["limits"]
        while True:
            self._heard.clear()
            listening = asyncio.create_task(self._heard.wait())
            seconds = limits["idle"] if self._spoke else limits["first_token"]
            try:
                done, _ = await asyncio.wait(
                    (asking, listening), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                listening.cancel()
            if self._problem is not None:
                raise self._problem
            if asking in done or self._cut:
                if not asking.done():
                    await self._cancel(asking)
                return
            if not done:
                raise ProviderError(FailureKind.STALL if self._spoke else FailureKind.NO_ANSWER)

    async def _cancel(self, asking: "asyncio.Task[Message]") -> None:
        """Have the program cancel the turn; end it where it does not."""
        with contextlib.suppress(ProviderError):
            self._program.notify("session/cancel", {"sessionId": self._id})
        await asyncio.wait((asking,), timeout=_CANCEL_SECONDS)
        if not asking.done():
            await self._program.end()
        await asyncio.wait((asking,))
        if not asking.cancelled():
            asking.exception()

    def _ended(self, result: Message) -> Mapping[str, object]:
        reason = str(result.get("stopReason") or "end_turn")
        if reason == "max_turn_requests":
            raise ProviderError("steps")
        if reason == "cancelled" and not self._cut:
            raise ProviderError(FailureKind.INTERRUPTED)
        if not self._spoke:
            raise ProviderError(FailureKind.EMPTY)
        usage = _object(result.get("usage"))
        quota = _object(_object(_object(result.get("_meta")).get("quota")).get("token_count"))
        return {
            "reason": self._cut or _ENDS.get(reason, FinishReason.STOP),
            "input_tokens": _count(usage.get("inputTokens") or quota.get("input_tokens")),
            "output_tokens": _count(usage.get("outputTokens") or quota.get("output_tokens")),
            "cost_usd": self._cost,
        }

    def _on_update(self, params: Message) -> bool:
        """Take what the program says about the session; return whether it is part of an answer that is awaited."""
        update = _object(params.get("update"))
        kind = update.get("sessionUpdate")
        if not self._prompted:
            return False
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            return self._take_text(update, thinking=kind == "agent_thought_chunk")
        if kind == "tool_call":
            title = str(update.get("title") or update.get("kind") or "")[:200]
            self._fail(ProviderError(FailureKind.AGENT_ACTED, title))
        elif kind == "current_mode_update" and self._mode and update.get("currentModeId") != self._mode:
            self._fail(ProviderError(FailureKind.AGENT_DIFFERS, str(update.get("currentModeId"))[:200]))
        elif kind == "usage_update":
            cost = _object(update.get("cost"))
            amount = cost.get("amount")
            if isinstance(amount, int | float) and amount >= 0 and cost.get("currency") == "USD":
                self._cost = float(amount)
        return False

    def _take_text(self, update: Message, *, thinking: bool) -> bool:
        text = _object(update.get("content")).get("text")
        if not isinstance(text, str) or not text or self._cut or self._problem is not None:
            return False
        self._heard.set()
        if thinking:
            self._thought += len(text.encode("utf-8", "replace"))
            if self._thought <= _ANSWER_BYTES:
                self._say({"thinking": text})
            return self._thought <= _ANSWER_BYTES
        try:
            self._pass_on(self._answer.take(text, str(update.get("messageId") or "")))
        except ProviderError as error:
            self._fail(error)
        if self._answer.bytes > _ANSWER_BYTES:
            self._cut = FinishReason.LENGTH
        return True

    def _pass_on(self, text: str) -> None:
        if text:
            self._spoke = True
            self._say({"text": text})

    def _fail(self, error: ProviderError) -> None:
        self._problem = self._problem or error
        self._heard.set()

    async def _choose_mode(self, state: dict[str, Any]) -> None:
        wanted = self._line["mode"]
        option, current, offered = _choices(state, "mode", "modes", "currentModeId", "availableModes")
        if not wanted and self._line["careful"]:
            wanted = next((one for one in offered if any(word in one.lower() for word in _CAREFUL)), "")
        if wanted and current != wanted and wanted in offered:
            await self._set(state, option, wanted, "session/set_mode", "modeId")
            if option:
                current = _choices(state, "mode", "modes", "currentModeId", "availableModes")[1]
            else:
                current = wanted
        # A program that has no modes has none that lets it do more.
        if wanted and (current or offered) and current != wanted:
            raise ProviderError(FailureKind.AGENT_DIFFERS, f"{current or '?'} ≠ {wanted}")
        self._mode = wanted

    async def _choose_model(self, state: dict[str, Any]) -> None:
        wanted = self._line["model"]
        option, current, offered = _choices(state, "model", "models", "currentModelId", "availableModels")
        own = wanted in ("", DEFAULT_MODEL)
        if not own and current != wanted:
            if wanted in offered:
                await self._set(state, option, wanted, "session/set_model", "modelId")
            if option:
                current = _choices(state, "model", "models", "currentModelId", "availableModels")[1]
            elif wanted in offered:
                current = wanted
        self.model, self.models = current, tuple(offered)
        hosted = own and current.startswith(tuple(self._line["hosted"]) or ("\0",))
        if (not own and current != wanted) or hosted:
            raise ProviderError(
                FailureKind.AGENT_DIFFERS, f"{current or '?'}" + ("" if own else f" ≠ {wanted}")
            )

    async def _set(self, state: dict[str, Any], option: str, value: str, method: str, name: str) -> None:
        if option:
            params = {"sessionId": self._id, "configId": option, "value": value}
            state.update(await self._program.ask("session/set_config_option", params, _START_SECONDS))
        else:
            await self._program.ask(method, {"sessionId": self._id, name: value}, _START_SECONDS)


def _choices(
    state: Message, category: str, older: str, current: str, available: str
) -> tuple[str, str, list[str]]:
    """Return the id of a session's option of a category ("" in the older form), its value, and the values offered."""
    options = state.get("configOptions")
    for option in options if isinstance(options, list) else ():
        one = _object(option)
        if category in (one.get("category"), one.get("id")):
            return str(one.get("id") or ""), str(one.get("currentValue") or ""), _values(one.get("options"))
    found = _object(state.get(older))
    listed = found.get(available)
    names = [_object(one) for one in listed] if isinstance(listed, list) else []
    ids = [str(one.get("id") or one.get("modelId") or "") for one in names]
    return "", str(found.get(current) or ""), [one for one in ids if one]


def _values(options: Any) -> list[str]:
    """Return the values of an option, which may stand in groups."""
    found: list[str] = []
    for option in options if isinstance(options, list) else ():
        one = _object(option)
        found += [str(one["value"])] if "value" in one else _values(one.get("options"))
    return found


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0
