"""What is given a text of a user, a model or a server takes a time that grows with its length, not with its square.

A marked text goes over the wire and through every page and dialog; each function that is given it is then given
long texts of one sign. Functions of child processes are those of their modules that take nothing but texts.
"""

import contextlib
import gc
import importlib
import inspect
import pkgutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest
from shiboken6 import Object

from app.core.frozen import Frozen
from app.core.session import ExportFormat
from tests.app_driver import Person, at_window, until
from tests.gui.every_page import USERS_WORDS, every_page, keep_all
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

MARK = USERS_WORDS.split()[0]
SAID = (
    f"# {USERS_WORDS}\n\n* **{MARK}** [{MARK}](https://{MARK}.example)\n\n"
    f"| {MARK} | 1 |\n| - | - |\n\n`{MARK}` ${MARK}$\n"
)
SIGNS = (" ", "[", "`", "*", "\\", "<", "7", "(", '"', "'")
SHORT, LONG = 10_000, 100_000
# Ten times the text: what is quadratic takes a hundred times as long. Below the seconds no ratio is worth a look.
MOST_RATIO, LEAST_SECONDS = 15, 0.02
# Over that ratio, twice the text: what is quadratic takes four times as long. What is linear takes twice as long,
# even where its objects fit into no cache any more, so that ten times the text took it 15 times as long.
MOST_OF_TWICE = 2.5
# Beside other tests: only what would stop everything.
MOST_SECONDS = 2.0
# Of one function so many calls are looked at until one has the marked text.
MOST_CALLS = 3_000
# What these are given is short.
BOUNDED = {
    "app.formulas._drawn": "formulas.draw takes 4,000 characters",
    "app.formulas._asked": "formulas.draw takes 4,000 characters",
    "app.core.servers.split_command": "shlex; a command line of the user's own",
    "app.core.servers._must_be_seen": "as above",
}
# These ask a server, start a program or change the library for good.
ACTING = {"fetch", "running_window", "ask_responses", "make_known", "is_streamed"}
HERE = ("app.core", "app.engine", "app.files", "app.markdown_page", "app.providers.errors")
CHILDREN = (
    "app.providers.model_host",
    "app.providers.agent_host",
    "app.tools.tool_host",
    "app.files.file_reader",
)


class Call(NamedTuple):
    """A call of a function with arguments that have the marked text."""

    function: Callable[..., object]
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def seconds(self, text: str) -> float:
        """Return the processor time of the call with another text in place of the marked one."""
        given = {name: with_text(value, text) for name, value in self.arguments.items()}
        began = time.thread_time()
        # What it makes of a text that it does not take counts for nothing here.
        with contextlib.suppress(Exception):
            result = self.function(**given)
            if inspect.isgenerator(result):
                for _ in result:
                    pass
            elif inspect.iscoroutine(result):
                result.close()
        return time.thread_time() - began


def is_marked(value: object) -> bool:
    """Say whether a text, or a text in a tuple, a list or a record, has the mark."""
    if isinstance(value, str):
        return MARK in value
    if isinstance(value, bytes):
        return MARK.encode() in value
    if isinstance(value, tuple | list):
        return any(is_marked(item) for item in value[:20])
    return isinstance(value, Frozen) and any(is_marked(getattr(value, field.name)) for field in fields(value))


def with_text(value: Any, text: str) -> Any:
    """Return a value with another text in each place that has the mark."""
    if not is_marked(value):
        return value
    if isinstance(value, str):
        return text
    if isinstance(value, bytes):
        return text.encode()
    if isinstance(value, Frozen):
        given = [field.name for field in fields(value) if field.init]
        return replace(value, **{name: with_text(getattr(value, name), text) for name in given})
    if hasattr(value, "_fields"):
        return type(value)(*(with_text(item, text) for item in value))
    return type(value)(with_text(item, text) for item in value)


def text_functions(*packages: str) -> Iterator[Call]:
    """Yield a call of each function of the packages' modules that takes texts and nothing else."""
    for package in map(importlib.import_module, packages):
        within = pkgutil.walk_packages(getattr(package, "__path__", []), f"{package.__name__}.")
        names = [
            package.__name__,
            *(module.name for module in within if not module.name.endswith("__main__")),
        ]
        for module in map(importlib.import_module, names):
            for name, function in vars(module).items():
                if (
                    not inspect.isfunction(function)
                    or function.__module__ != module.__name__
                    or name in ACTING
                ):
                    continue
                needed = [
                    parameter
                    for parameter in inspect.signature(function).parameters.values()
                    if parameter.default is parameter.empty
                    and parameter.kind.name.endswith(("KEYWORD", "ONLY"))
                ]
                if needed and all(parameter.annotation in (str, bytes) for parameter in needed):
                    yield Call(
                        function,
                        {each.name: MARK if each.annotation is str else MARK.encode() for each in needed},
                    )


@contextlib.contextmanager
def noted() -> Iterator[dict[CodeType, Call]]:
    """Note a call of each function of the program that is given the marked text: those of modules, and methods of
    records, which change nothing.
    """
    found: dict[CodeType, Call] = {}
    calls: dict[CodeType, int] = {}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or code in found or "/app/" not in code.co_filename:
            return
        calls[code] = calls.get(code, 0) + 1
        if calls[code] > MOST_CALLS:
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        given = {name: frame.f_locals[name] for name in names}
        owner = given.get("self")
        function = getattr(type(owner), code.co_name, None) if isinstance(owner, Frozen) else None
        function = function or frame.f_globals.get(code.co_name)
        is_it = callable(function) and getattr(inspect.unwrap(function), "__code__", None) is code
        # An object of Qt's, as what is painted with, may be gone later.
        is_plain = not any(isinstance(value, Object) for value in given.values())
        if is_it and is_plain and any(is_marked(value) for value in given.values()):
            found[code] = Call(function, given)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def seen_everywhere(person: Person) -> None:
    """Have a model say the marked text, bring every page and dialog to the front, and export every session."""
    desk, page = person.window.controller, person.window.controller.chat_page
    await person.click("new_button")
    await person.write("composer", SAID)
    await person.click("send_button")
    await until(lambda: page.session is not None and page.session.status == "idle", what="the answer")
    desk.palette.search()
    person.find("palette_box").setText(MARK)
    await person.settle(0.5)
    desk.palette.palette.leave()
    async for _ in every_page(person):
        pass
    for session in desk.engine.sessions():
        for file_format in ExportFormat:
            with contextlib.suppress(Exception):
                await desk.engine.export(session.id, file_format)


def check(calls: list[Call]) -> None:
    """Fail for each call that grows with the square of its text; print how many there are and the largest ratio."""
    slow, largest = {}, (0.0, "")
    # It looks through all objects again and again, however they are made.
    gc.disable()
    for call in calls:
        for sign in SIGNS if call.name not in BOUNDED else ():
            if call.seconds(sign * LONG) < LEAST_SECONDS:
                continue
            long = min(call.seconds(sign * LONG) for _ in range(3))
            ratio = long / max(min(call.seconds(sign * SHORT) for _ in range(3)), 1e-5)
            largest = max(largest, (round(ratio, 1), f"{call.name} {sign!r}"))
            if long > LEAST_SECONDS and ratio > MOST_RATIO:
                if long < MOST_OF_TWICE * min(call.seconds(sign * (LONG // 2)) for _ in range(3)):
                    continue
                slow[f"{call.name} {sign!r}"] = (round(long, 3), round(ratio, 1))
    gc.enable()
    print(f"{len(calls)} functions are given the text; the largest ratio is {largest}")
    assert not slow, "\n".join(f"{name}: {took}" for name, took in slow.items())


@pytest.mark.slow
def test_no_function_of_a_text_takes_seconds() -> None:
    calls = list(text_functions(*HERE))
    assert len(calls) > 100
    slow = {
        f"{call.name} {sign!r}"
        for call in calls
        for sign in SIGNS
        if call.seconds(sign * LONG) > MOST_SECONDS
    }
    assert not slow


@pytest.mark.slow
@pytest.mark.timeout(1_800)
async def test_no_function_that_is_given_a_text_is_quadratic(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    for server in wire_servers.values():
        server.script(server.model, lambda _request: Answer(SAID, thinking=SAID))
    await keep_all(data_dir)
    async with at_window(data_dir) as person:
        with noted() as calls:
            await seen_everywhere(person)
        assert len(calls) > 150
        check(list(calls.values()))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_function_of_a_child_process_is_quadratic() -> None:
    calls = list(text_functions(*HERE, *CHILDREN))
    assert {"fetched", "plain_text", "shortened", "as_events"} <= {call.function.__name__ for call in calls}
    check(calls)
