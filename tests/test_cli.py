"""The command line's own business: what was typed, what it needs not to import, how it ends."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from app import __main__, __version__
from app.cli.arguments import COMMANDS, Arguments, parse_arguments, parse_spec, wanted_language
from app.cli.printing.chats import DebatePrinter
from app.cli.printing.lines import error_line, json_line, load_texts
from app.cli.printing.sessions import Follower, event_json
from app.core.council import Participant
from app.core.errors import BadInput, Failure
from app.core.events import MessageDelta, MessageFinished, MessageStarted, Notice, SessionStarted, TurnStarted
from app.core.message import Author, Message, MessageState, Role
from app.core.session import Debate, DebateSession
from app.core.texts import Texts, without_steering
from app.engine.debate.modes import ROLES
from app.linux import install_command, missing_libraries
from app.wiring import resources_dir

PROJECT = Path(__file__).resolve().parents[1]
TEXTS = load_texts("en")


@pytest.mark.parametrize(
    "command",
    [
        [name, *action]
        for name, (_, *actions) in COMMANDS.items()
        for action in ([], *([one] for one in actions))
    ],
    ids=" ".join,
)
def test_the_help_of_a_command_says_what_each_of_its_words_is(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments([*command, "--help"], TEXTS)
    assert ended.value.code == 0
    told = capsys.readouterr().out.splitlines()
    assert not [
        line
        for line, after in pairwise([*told, ""])
        # A long word has its help on the next line.
        if re.fullmatch(r"  \S+", line) and not after.startswith("      ")
    ]


def test_the_help_is_all_korean(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["debate", "--help"], Texts.load(resources_dir() / "i18n", "ko"))
    told = capsys.readouterr().out
    assert told.startswith("사용법: moot debate") and "\n입력값:\n" in told and "\n옵션:\n" in told
    assert not re.search("usage|positional|options|show this", told)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments(["--version"], TEXTS)
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"Moot {__version__}\n"


@pytest.mark.parametrize(
    ("typed", "spec"),
    [
        ("Claude=anthropic/claude-opus-4-5:against", partial(Participant, name="Claude", provider="anthropic", model="claude-opus-4-5", role="against")),
        ("Claude=anthropic/claude-opus-4-5", partial(Participant, name="Claude", provider="anthropic", model="claude-opus-4-5")),
        ("지민 씨=ollama/llama3.2:3b", partial(Participant, name="지민 씨", provider="ollama", model="llama3.2:3b")),
        ("지민=ollama/llama3.2:3b:for", partial(Participant, name="지민", provider="ollama", model="llama3.2:3b", role="for")),
        ("A B=local/meta/Llama-3:8b-q4:devils-advocate", partial(Participant, name="A B", provider="local", model="meta/Llama-3:8b-q4", role="devils-advocate")),
        ("A=openai/gpt-5.2:a sceptic: counts the cost", partial(Participant, name="A", provider="openai", model="gpt-5.2", role="a sceptic: counts the cost")),
        ("A=ollama/llama3.2:3b:an old sailor", partial(Participant, name="A", provider="ollama", model="llama3.2:3b", role="an old sailor")),
        ("A=openai/gpt-5.2:회의론자", partial(Participant, name="A", provider="openai", model="gpt-5.2", role="회의론자")),
        ("A=openai/ft:gpt-4o:acme::x1", partial(Participant, name="A", provider="openai", model="ft:gpt-4o:acme::x1")),
        ("x=y=openai/m", partial(Participant, name="x", provider="y=openai", model="m")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_participant_is_read(typed: str, spec: Callable[..., Participant]) -> None:
    found = parse_spec(typed, ROLES)
    assert found == spec(id=found.id)


@pytest.mark.parametrize(
    "typed", ["", "Claude", "=openai/m", "A=openai", "A=/m", "A=openai/", "A=openai/:for", " =o/m"]
)
def test_what_is_no_participant_is_refused(typed: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_spec(typed, ROLES)
    assert "NAME=PROVIDER/MODEL" in error_line(error.value, TEXTS)


@pytest.mark.parametrize(
    "typed",
    [
        ["--data-dir", "/d", "--lang", "ko", "--json", "show", "01x"],
        ["show", "--data-dir", "/d", "--lang", "ko", "--json", "01x"],
        ["--lang=ko", "show", "01x", "--json", "--data-dir=/d"],
    ],
)
def test_what_all_commands_take_stands_before_or_after(typed: list[str]) -> None:
    arguments = parse_arguments(typed, TEXTS)
    expected = Arguments(
        command="show",
        data_dir=str(Path("/d").absolute()),
        language="ko",
        json=True,
        values={"session": "01x"},
    )
    assert arguments == expected
    assert wanted_language(typed) == "ko"


def test_a_debate_is_read_and_survives_being_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = ["debate", "주제", "-p", "A=o/m", "-p", "B=o/m:for", "--mode", "free", "--rounds", "7"]
    arguments = parse_arguments([*typed, "--seed", "0", "--context", "notes.txt"], TEXTS)
    assert arguments == Arguments(
        command="debate",
        values={
            "text": "주제",
            "participants": ("A=o/m", "B=o/m:for"),
            "mode": "free",
            "rounds": 7,
            "seed": 0,
            "context": (str(tmp_path / "notes.txt"),),
        },
    )
    assert Arguments.from_json(json.loads(json.dumps(arguments.to_json()))) == arguments


def test_a_word_to_an_assistant_is_read() -> None:
    arguments = parse_arguments(["ask", "길 잡이", "Hello", "--session", "01x", "--json"], TEXTS)
    assert arguments == Arguments(
        command="ask", json=True, values={"assistant": "길 잡이", "text": "Hello", "session": "01x"}
    )
    assert Arguments.from_json(json.loads(json.dumps(arguments.to_json()))) == arguments
    assert "session" not in parse_arguments(["ask", "a", "b"], TEXTS).values
    assert parse_arguments(["ask", "a", "b", "--effort", "max"], TEXTS).values["effort"] == "max"


@pytest.mark.parametrize(
    "typed",
    [
        ["debate"],
        ["ask"],
        ["ask", "guide"],
        ["ask", "guide", "Hello", "--session"],
        ["fly"],
        ["show"],
        ["export", "01x"],
        ["export", "01x", "--format", "doc"],
        ["debate", "x", "--rounds", "many"],
        ["debate", "x", "--mode", "loud"],
        ["debate", "x", "--round", "3"],
        ["--lang", "fr"],
        ["pause", "01x", "--json"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_mistyped_command_gets_one_line(
    typed: list[str], language: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["moot", *typed] if "--lang" in typed else ["moot", "--lang", language, *typed]
    )
    assert __main__.main() == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "--help" in err


@pytest.mark.parametrize(
    ("typed", "code", "names"),
    [
        (["debate"], "usage_missing", "TOPIC"),
        (["fly"], "usage_choice", "fly"),
        (["export", "01x", "--format", "doc"], "usage_choice", "--format"),
        (["debate", "x", "--rounds", "many"], "usage_number", "--rounds"),
        (["debate", "x", "--rounds"], "usage_value", "--rounds"),
        (["council", "x", "--max-usd", "abc"], "usage_amount", "--max-usd"),
        (["council", "x", "--max-usd", "-1"], "usage_amount", "--max-usd"),
        (["debate", "x", "--wings", "2"], "usage_unknown", "--wings"),
        (["sessions", "--json=yes"], "usage_no_value", "--json"),
    ],
)
def test_what_is_mistyped_is_said_in_the_language_of_the_user(
    typed: list[str], code: str, names: str
) -> None:
    korean = load_texts("ko")
    with pytest.raises(BadInput) as error:
        parse_arguments(typed, korean)
    assert error.value.code == code
    line = error_line(error.value, korean)
    assert names in line
    rest = re.sub(r"--[a-z-]+|moot( [a-z]+)?|'[^']*'|TOPIC|COMMAND", "", line)
    assert not re.search("[A-Za-z]", rest), line


@pytest.mark.parametrize(
    ("typed", "choices"),
    [
        (["council", "x", "--tools", "own"], "'none', 'reading'"),
        (["debate", "x", "--ballots", "each"], "'final', 'rounds'"),
        (["step", "01x", "a", "leap"], "'retry', 'skip', 'accept'"),
    ],
)
def test_a_wrong_choice_is_answered_with_what_can_be_typed(typed: list[str], choices: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_arguments(typed, TEXTS)
    assert error.value.details["choices"] == choices


def test_ctrl_c_while_a_command_is_read_ends_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object) -> Arguments:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.arguments.parse_arguments", interrupted)
    monkeypatch.setattr(sys, "argv", ["moot", "sessions"])
    assert __main__.main() == 4
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("command", [["sessions"], ["providers"], ["doctor"], ["debate", ""]], ids=" ".join)
def test_no_sub_command_imports_qt_or_litellm_or_mcp(command: list[str]) -> None:
    program = (
        "import sys, app.__main__ as start\n"
        f"sys.argv = ['moot', *{command!r}]\n"
        "status = start.main()\n"
        "heavy = {'PySide6', 'qasync', 'litellm', 'mcp', 'xllamacpp'} & {name.partition('.')[0] for name in sys.modules}\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_window_is_not_tried_without_its_libraries(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = [("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor")]
    monkeypatch.setattr("app.linux.missing_libraries", lambda: gone)
    monkeypatch.setattr(sys, "argv", ["moot"])
    assert __main__.main() == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert "libxcb-cursor.so.0" in err
    assert "install" in err


def test_a_missing_library_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(len(row) == 3 for row in missing_libraries())
    row = ("libnot-there.so.7", "libnot-there7", "not-there")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("app.linux._BASE", (row,))
    assert row in missing_libraries()
    assert row[1] in install_command([row]) or row[2] in install_command([row])


def test_nothing_a_model_says_steers_the_terminal() -> None:
    shown = "a⟨U+001B⟩[2Jb⟨U+009B⟩c⟨U+202E⟩d\te\n한국어 👩\u200d"
    assert without_steering("a\x1b[2Jb\x9bc\u202ed\te\r\n한국어 👩\u200d") == shown


def test_json_is_one_line_for_every_reader() -> None:
    line = json_line({"text": "a\u2028b\x85c\u2029d\r\ne 한국어"})
    assert len(line.splitlines()) == 1
    assert "한국어" in line
    assert json.loads(line) == {"text": "a\u2028b\x85c\u2029d\r\ne 한국어"}


ANN = Participant(id="p1", name="Ann", provider="openai", model="m1", role="for")
SESSION = DebateSession(
    id="01s",
    title="T",
    debate=Debate(
        topic="T", rounds=2, participants=(ANN, Participant(id="p2", name="지민", provider="o", model="m2"))
    ),
)


def said(text: str, **changes: object) -> Message:
    values: dict[str, object] = {
        "id": "m1",
        "turn_id": "t1",
        "role": Role.ASSISTANT,
        "content": text,
        "round": 1,
    }
    return Message(**(values | {"author": Author(id="p1", name="Ann")} | changes))  # type: ignore[arg-type]


def test_people_see_who_speaks_in_which_round_and_each_word_once() -> None:
    printer = DebatePrinter(TEXTS)
    events = [
        SessionStarted(session_id="01s", session=SESSION),
        TurnStarted(session_id="01s", turn_id="t1", author=Author(id="p1", name="Ann"), round=1),
        MessageStarted(session_id="01s", message=said("", state=MessageState.STREAMING)),
        MessageDelta(session_id="01s", message_id="m1", offset=0, text="Hello "),
        # Of what comes again only the rest is printed.
        MessageDelta(session_id="01s", message_id="m1", offset=0, text="Hel"),
        MessageDelta(session_id="01s", message_id="m1", offset=3, text="lo there"),
        MessageFinished(session_id="01s", message=said("Hello there.")),
    ]
    text = "".join(map(printer, events))
    assert text.index("Round 1 of 2") < text.index("Ann (For):") < text.index("Hello there.\n")
    assert text.endswith("\nAnn (For):\nHello there.\n")


def test_who_is_cut_in_on_goes_on_under_their_name() -> None:
    printer = DebatePrinter(TEXTS)
    printer.know(SESSION)
    stepped_in = said("And vans?", id="m2", role="user", author=Author(id="user", name="User", kind="user"))
    events = [
        MessageStarted(session_id="01s", message=said("", state=MessageState.STREAMING)),
        MessageDelta(session_id="01s", message_id="m1", offset=0, text="Hello "),
        MessageFinished(session_id="01s", message=stepped_in),
        MessageDelta(session_id="01s", message_id="m1", offset=6, text="there."),
        MessageFinished(session_id="01s", message=said("Hello there.")),
    ]
    lines = [line.strip() for line in "".join(map(printer, events)).splitlines() if line.strip()]
    assert lines == ["Ann (For):", "Hello", "You:", "And vans?", "Ann (For):", "there."]


def test_a_failed_turn_says_why() -> None:
    printer = DebatePrinter(TEXTS)
    printer.know(SESSION)
    failed = said(
        "Hal", state=MessageState.FAILED, error=Failure(kind="interrupted", detail="line\nbroke \x1b[31m")
    )
    text = printer(MessageFinished(session_id="01s", message=failed))
    assert "Ann" in text
    assert "line broke" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(("language", "says"), [("en", "Saving works again"), ("ko", "다시 저장")])
def test_a_line_for_scripts_says_a_notice_in_words(language: str, says: str) -> None:
    notice = Notice(session_id="01s", level="info", code="saved_again")
    line = json.loads(event_json(notice, load_texts(language)))
    assert (line["event"], line["level"]) == ("notice", "info")
    assert says in line["text"]


async def test_what_is_shown_as_finished_was_acknowledged_first() -> None:
    order: list[str] = []

    class Notes:
        async def write(self, text: str) -> None:
            order.extend(json.loads(line)["event"] for line in text.splitlines())

        async def complain(self, line: str) -> None:
            raise AssertionError(line)

    async def acknowledged(session_id: str) -> None:
        await asyncio.sleep(0.01)
        order.append(f"acknowledged {session_id}")

    follower = Follower(partial(event_json, texts=TEXTS), Notes(), acknowledged)
    follower.listen((SessionStarted(session_id="01s", session=SESSION),))
    following = asyncio.create_task(follower.follow("01s"))
    await asyncio.sleep(0.05)
    follower.listen((MessageFinished(session_id="another", message=said("no")),))
    follower.listen((MessageFinished(session_id="01s", message=said("yes")),))
    follower.end()
    await asyncio.wait_for(following, 5)
    assert order == ["acknowledged 01s", "session.started", "acknowledged 01s", "message.finished"]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_text_of_the_command_line_is_there(language: str) -> None:
    texts, english = load_texts(language), load_texts("en")
    keys: Callable[[object], set[str]] = lambda one: {  # noqa: E731
        key for key in one._catalogue if key.startswith(("cli.", "error."))
    }
    assert keys(texts) == keys(english)
    sources = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "app").glob("*.py"))
    used = set(re.findall(r'"(cli\.[a-z_.]+)"', sources))
    assert used
    # Of a text that is chosen by a code, the beginning of the key is in the source.
    missing = {key for key in used if not any(f"{one}.".startswith(f"{key}.") for one in texts._catalogue)}
    assert missing == set()


RUN = """
import sys
from app.__main__ import main
try:
    main()
except SystemExit:
    pass
sys.stderr.write("\\n" + " ".join(sys.modules))
"""
NEVER = {"PySide6", "litellm", "mcp", "pydantic", "aiohttp", "httpx"}


@pytest.mark.parametrize(
    ("typed", "unneeded"),
    [
        ("--help", {"keyring", "filelock", "app.engine", "app.storage.sessions"}),
        (
            "sessions",
            {"asyncio", "keyring", "filelock", "app.engine", "app.wiring", "app.tools", "app.providers"},
        ),
        ("--lang en sessions", {"keyring", "filelock", "app.engine", "app.wiring", "app.cli.commands.chats"}),
        ("show 01J00000000000000000000000", {"keyring", "filelock"}),
        ("providers", {"filelock"}),
    ],
)
def test_a_command_imports_only_what_it_needs(data_dir: Path, typed: str, unneeded: set[str]) -> None:
    data_dir.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *typed.split()], capture_output=True, text=True, check=True, cwd=PROJECT
    )
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "app.cli.arguments" in loaded
    assert not loaded & (NEVER | unneeded)


@pytest.mark.parametrize("arguments", [(), ("doctor",), ("sessions",), ("panels",), ("mcp",)])
@pytest.mark.parametrize("below", ["", "inside"])
def test_a_file_is_refused_as_the_data_directory(
    arguments: tuple[str, ...],
    below: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine", "utf-8")
    said = f"{file} is a file, not a folder. Choose a folder for "
    monkeypatch.setattr(sys, "argv", ["moot", "--lang", "en", "--data-dir", str(file / below), *arguments])
    assert __main__.main() == 2
    assert capsys.readouterr().err == f"{said}--data-dir.\n"
    monkeypatch.setenv("MOOT_DATA_DIR", str(file / below))
    monkeypatch.setattr(sys, "argv", ["moot", "--lang", "en", *arguments])
    assert __main__.main() == 2
    assert capsys.readouterr().err == f"{said}MOOT_DATA_DIR.\n"
    assert file.read_text("utf-8") == "mine"
