"""Holds the guide true: each command, key, text and link that a page names exists, in both languages alike."""

import json
import re
import shlex
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pyromark
import pytest

from app.cli.arguments import COMMANDS as TYPED
from app.cli.arguments import parameters_of, parse_arguments
from app.core.texts import LANGUAGES, Texts
from app.gui.commands import COMMANDS
from app.gui.dialogs.reading_dialogs import TOPICS
from app.gui.pages.council.decision_steps import STEPS
from app.gui.pages.settings.settings_view import FIRST, FIXED, PAGES
from tests.core import test_english_wording as english_terms
from tests.core import test_korean_wording as korean_terms
from tests.core.people_read import RESOURCES

ROOT, GUIDE = RESOURCES.parent, RESOURCES / "guide"
BOTH = [(language, topic) for language in LANGUAGES for topic in TOPICS]
# What every command line takes, beside the options of its command.
COMMON = {"--json", "--data-dir", "--help"}
KEYS = re.compile(
    r"(?:(?:Ctrl|Alt|Shift)\+)+(?:Enter|Tab|Up|Down|F\d+|[A-Z0-9.,/+-])|(?<![+\w])(?:F\d+|Enter|Esc|Del)(?![A-Za-z0-9])"
)
BLANK = re.compile(r"\\\{\w+\\\}")


class Page:
    """A page as its Markdown is read."""

    def __init__(self, path: Path) -> None:
        self.source = path.read_text("utf-8")
        # The levels of the headings.
        self.headings = [len(marks) for marks in re.findall(r"^(#+) ", self.source, re.MULTILINE)]
        # The texts in italics, the code in lines, the lines of blocks of code, and all other text.
        self.italics: list[str] = []
        self.codes: list[str] = []
        self.blocks: list[str] = []
        self.plain: list[str] = []
        # Where the links lead, and their words.
        self.links: list[tuple[str, str]] = []
        inside, said, target = [""], "", ""
        for event in pyromark.Markdown(options=pyromark.Options.ENABLE_TABLES).events(self.source):
            kind, value = next(iter(event.items())) if isinstance(event, dict) else (event, "")
            if kind == "Start":
                name = value if isinstance(value, str) else next(iter(value))
                if name in ("Emphasis", "CodeBlock", "Link"):
                    inside.append(name)
                    said = ""
                if name == "Link":
                    target = value["Link"]["dest_url"]
            elif kind == "End" and value == inside[-1]:
                inside.pop()
                if value == "Link":
                    self.links.append((target, said))
                elif value == "Emphasis":
                    self.italics.append(said)
                else:
                    self.blocks += said.splitlines()
            elif kind == "Code":
                self.codes.append(value)
            elif kind == "Text" and inside[-1]:
                said += value
            elif kind == "Text":
                self.plain.append(value)


@cache
def page_of(language: str, topic: str) -> Page:
    return Page(GUIDE / language / f"{topic}.md")


@cache
def shown_in(language: str) -> dict[str, str]:
    """Return the texts that the window shows: all but words by which settings and commands are found."""
    texts = json.loads((RESOURCES / "i18n" / f"{language}.json").read_text("utf-8"))
    return {
        key: text for key, text in texts.items() if not re.fullmatch(r"(settings|palette)\.\w+\.find", key)
    }


@cache
def patterns_of(language: str) -> dict[str, re.Pattern[str]]:
    """Return the texts of a language that have blanks, as patterns with a group for each blank."""
    escaped = {key: re.escape(text) for key, text in shown_in(language).items() if "{" in text}
    return {
        key: re.compile(BLANK.sub("(.+)", text))
        for key, text in escaped.items()
        if len(BLANK.sub("", text)) > 2
    }


@cache
def keys_of(language: str, shown: str) -> frozenset[str]:
    """Return the keys of the texts that read so; blanks have to be filled with other texts."""
    texts = shown_in(language)
    known = set(texts.values())
    found = {key for key, text in texts.items() if text == shown}
    for key, pattern in patterns_of(language).items():
        if (filled := pattern.fullmatch(shown)) and known.issuperset(filled.groups()):
            found.add(key)
    return frozenset(found)


def options_of(command: str, action: str) -> set[str]:
    return {name for _, _, typed in parameters_of(command, action) for name in typed.names}


def test_every_language_has_a_page_for_each_topic() -> None:
    for language in LANGUAGES:
        assert {path.name for path in (GUIDE / language).glob("*.md")} == {f"{topic}.md" for topic in TOPICS}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_built_alike_in_every_language(topic: str) -> None:
    english, *others = (page_of(language, topic) for language in LANGUAGES)
    assert english.headings[0] == 1 and set(english.headings[1:]) == {2}
    assert 150 <= len(english.source.replace("|", " ").split()) <= 400
    for other in others:
        assert other.headings == english.headings
        assert {link for link, _ in other.links} == {link for link, _ in english.links}
        assert sorted(other.codes) == sorted(english.codes)
        # What is quoted is in the language of the page.
        quoted = re.compile(r'"[^"]*"|(?<=--panel )\S+')
        assert [quoted.sub("", line) for line in other.blocks] == [
            quoted.sub("", line) for line in english.blocks
        ]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_names_the_same_texts_in_every_language(topic: str) -> None:
    english, *others = LANGUAGES
    meant = {text: keys_of(english, text) for text in page_of(english, topic).italics}
    for other in others:
        named = {text: keys_of(other, text) for text in page_of(other, topic).italics}
        assert [text for text, keys in meant.items() if not any(keys & each for each in named.values())] == []
        assert [text for text, keys in named.items() if not any(keys & each for each in meant.values())] == []


@pytest.mark.parametrize(("language", "topic"), BOTH)
def test_each_text_in_italics_is_one_of_the_window(language: str, topic: str) -> None:
    page = page_of(language, topic)
    assert [text for text in page.italics if not keys_of(language, text)] == []
    # An asterisk that is left marks nothing: between a sign and Hangul it ends no italics.
    assert [text for text in page.plain if "*" in text] == []


def _way_to(page: str, texts: Mapping[str, str]) -> list[str]:
    """Return what is clicked in the settings for a page: its entry, and its tab unless that is the first."""
    first = FIRST.get(page)
    if first is None:
        return [texts[f"settings.{page}"]]
    return [texts[f"settings.group.{first}"], *([texts[f"settings.{page}"]] if page != first else [])]


@pytest.mark.parametrize(("language", "topic"), BOTH)
def test_each_link_leads_to_a_page_of_the_guide_or_of_the_settings(language: str, topic: str) -> None:
    texts = shown_in(language)
    for target, said in page_of(language, topic).links:
        kind, _, page = target.partition(":")
        if kind == "settings":
            assert page in PAGES
            assert re.split(", | > ", said) == [texts["settings.title"], *_way_to(page, texts)]
        else:
            assert (GUIDE / language / target).read_text("utf-8").startswith(f"# {said}\n")


@pytest.mark.parametrize(("language", "topic"), BOTH)
def test_each_key_does_something(language: str, topic: str) -> None:
    known = {command.keys for command in COMMANDS} | {f"Alt+{number + 1}" for number in range(len(STEPS))}
    known |= {keys.replace("Return", "Enter") for keys in FIXED}
    assert {keys for text in page_of(language, topic).plain for keys in KEYS.findall(text)} <= known


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_of_keys_lists_every_command_that_has_some(language: str) -> None:
    texts = shown_in(language)
    rows = re.findall(r"^\| (\S+) \| \*(.+)\* \|$", page_of(language, "keys").source, re.MULTILINE)
    meant = [(command.keys, texts[f"palette.{command.name}"]) for command in COMMANDS if command.keys]
    meant += [(keys.replace("Return", "Enter"), texts[f"keys.{name}"]) for keys, name in FIXED.items()]
    assert sorted(rows) == sorted(meant)


@pytest.mark.parametrize(("language", "topic"), BOTH)
def test_each_command_exists_with_its_options(language: str, topic: str) -> None:
    page, texts = page_of(language, topic), Texts.load(RESOURCES / "i18n", language)
    for line in page.blocks:
        if line.startswith("moot "):
            # It raises BadInput for a word that no command takes.
            parse_arguments(shlex.split(line)[1:], texts)
    every = {
        name
        for command, (_, *actions) in TYPED.items()
        for action in actions or [""]
        for name in options_of(command, action)
    }
    for code in page.codes:
        first, *words = shlex.split(code)
        if first.startswith("-"):
            assert first in every | COMMON
        elif first == "moot" and words and words[0] not in COMMON:
            command, *rest = words
            actions = TYPED[command][1:]
            assert not actions or not rest or rest[0] in (*actions, "--help"), code
            known = options_of(command, rest[0] if actions and rest else "list" if actions else "")
            assert {word for word in rest if word.startswith("-")} <= known | COMMON, code


@pytest.mark.parametrize(("language", "topic"), BOTH)
def test_a_page_keeps_to_the_terms_of_its_language(language: str, topic: str) -> None:
    terms = {"en": english_terms, "ko": korean_terms}[language]
    said = "\n".join(page_of(language, topic).plain)
    assert [wrong for wrong, *_ in terms.EVERYWHERE + terms.IN_THE_WINDOW if re.search(wrong, said)] == []


def test_what_is_built_takes_the_guide_along() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert "/resources" in build["wheel"]["include"] and "/resources" in build["sdist"]["include"]
    spec = (ROOT / "packaging" / "moot.spec").read_text("utf-8")
    assert '(str(ROOT / "resources"), "resources")' in spec


def test_the_lines_for_other_agents_are_those_of_the_readme() -> None:
    lines = re.findall(r"^.*moot.*\bmcp\b.* # .+$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(lines) == 5
    for language in LANGUAGES:
        assert page_of(language, "mcp").blocks == lines


def test_it_is_said_how_to_open_a_build_that_is_not_signed() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for said in (readme, page_of("en", "start").source):
        assert "Open Anyway" in said and "More info" in said and "Run anyway" in said
    korean = page_of("ko", "start").source
    assert "‘그래도 열기’" in korean and "‘추가 정보’를 누른 다음 ‘실행’" in korean


def test_the_readme_is_short_and_what_it_shows_is_there() -> None:
    page = Page(ROOT / "README.md")
    source = page.source
    assert len(source.splitlines()) <= 120
    assert len(source.split()) <= 1_000
    assert [text for text in page.italics if not keys_of("en", text)] == []
    targets = re.findall(r"\]\(([^)]+)\)", source)
    assert [target for target in targets if not (ROOT / target).exists()] == []
    assert re.findall(r"^python3 packaging/dev\.py (?:run|test) .*$", source, re.MULTILINE) == [
        "python3 packaging/dev.py run     # sets everything up, then opens the window",
        "python3 packaging/dev.py test    # runs the tests",
    ]
    commands = re.findall(r"^\.venv/bin/(moot .+?)(?: +# .*)?$", source, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        parse_arguments(shlex.split(command)[1:], Texts.load(RESOURCES / "i18n", "en"))
