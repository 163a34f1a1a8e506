"""Puzzles to measure a council with: knights, who tell the truth, and knaves, who lie; one answer fits each."""

import itertools
import random
import re
from dataclasses import dataclass

PEOPLE = ("Ann", "Bob", "Cara", "Dan", "Eve")
KINDS = ("knave", "knight")

Answer = tuple[bool, ...]
"""Who is a knight, in the order of the people."""
_Statement = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A question, and the one answer that fits it."""

    question: str
    solution: Answer

    def text(self, answer: Answer) -> str:
        """Return an answer in the words that the question asks for."""
        return ", ".join(f"{name} {KINDS[one]}" for name, one in zip(PEOPLE, answer, strict=False))

    def read(self, text: str) -> Answer | None:
        """Return the answer that a text gives last, None where it does not name everybody's kind."""
        found = {}
        for name in PEOPLE[: len(self.solution)]:
            kinds = re.findall(rf"\b{name}\b[^,.;\n]*?\b(knight|knave)\b", text, re.IGNORECASE)
            if not kinds:
                return None
            found[name] = kinds[-1].casefold() == KINDS[True]
        return tuple(found.values())


def puzzles(count: int, people: int, seed: int) -> list[Puzzle]:
    """Return so many different puzzles; the same ones for a seed, and as the first of more."""
    chance = random.Random(f"knights/{people}/{seed}")
    made: dict[tuple[_Statement, ...], Puzzle] = {}
    while len(made) < count:
        said = tuple(_statement(who, people, chance) for who in range(people))
        fits = [
            one
            for one in itertools.product((False, True), repeat=people)
            if all(one[who] == _holds(statement, one) for who, statement in enumerate(said))
        ]
        if len(fits) == 1 and said not in made:
            lines = (f"{PEOPLE[who]} says: “{_words(statement)}”" for who, statement in enumerate(said))
            rules = _RULES.format(number=f"{seed}-{len(made) + 1}")
            question = "\n".join((rules, *lines, _ASKS.format(form=_form(people))))
            made[said] = Puzzle(question, fits[0])
    return list(made.values())


_RULES = (
    "Knights and knaves, puzzle {number}. On an island, knights always tell the truth and knaves always lie."
)
_ASKS = "Who is a knight and who is a knave? Give the answer in this form: {form}."


def _statement(speaker: int, people: int, chance: random.Random) -> _Statement:
    about, other = chance.sample([one for one in range(people) if one != speaker] + [speaker], 2)
    kind = chance.choice(("knight", "knave", "same", "different", "either", "both"))
    return kind, about, other


def _holds(statement: _Statement, answer: Answer) -> bool:
    kind, about, other = statement
    one, two = answer[about], answer[other]
    return {
        "knight": one,
        "knave": not one,
        "same": one == two,
        "different": one != two,
        "either": not one or two,
        "both": one and not two,
    }[kind]


def _words(statement: _Statement) -> str:
    kind, about, other = statement
    one, two = PEOPLE[about], PEOPLE[other]
    return {
        "knight": f"{one} is a knight.",
        "knave": f"{one} is a knave.",
        "same": f"{one} and {two} are of the same kind.",
        "different": f"{one} and {two} are of different kinds.",
        "either": f"{one} is a knave or {two} is a knight.",
        "both": f"{one} is a knight and {two} is a knave.",
    }[kind]


def _form(people: int) -> str:
    return ", ".join(f"{name} …" for name in PEOPLE[:people])
