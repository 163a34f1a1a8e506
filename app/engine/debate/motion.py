"""The motion that a question asks about, "Cities should ban cars." for "Should cities ban cars?"; pure.

A question whose subject is not certain stays as it is: a question is better than a sentence that says something else.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOST_QUESTION = 300
# None of these is also a noun, so that what stands before the first of them is the subject.
_VERBS = _words(
    "be have do get become remain adopt abolish accept allow apply avoid begin build buy choose consider continue create "
    "decide disclose eat encourage ensure expand forbid give hire invest join keep learn legalise legalize let lower make "
    "migrate move pay permit prevent prohibit protect provide publish raise reduce refuse regulate remove replace require "
    "rewrite sell send spend subsidise subsidize switch take teach tell use write"
)
# These are nouns as well: verbs only behind a subject that leaves no doubt.
_VERBS_OR_NOUNS = _words(
    "ban charge cost cut drop end fund hold increase limit offer own plan open park pass rank rent stay go stop study "
    "support tax test train treat trust vote work"
)
_PRONOUNS = _words("i we you they he she it everyone everybody people nobody somebody anyone")
_LEADING = _words("the our all every most public private a an my your their no")
_ACTORS = _words("government state company parliament president school city country team council")
# Plural words that stand before a noun: "sales tax".
_MODIFIERS = _words("sales sports savings arms customs news goods earnings systems operations plus thus gas")
# Behind these a verb or an adjective belongs to a part of the subject.
_LINKS = _words(
    "of in on at for from with without under over above below who that which and or between to by during before "
    "after about not than when if why what how"
)
_IS = re.compile(
    r"(?P<verb>is|are) (?P<subject>[^?,]+?) (?P<rest>(?:better|worse|good|bad|safe|dangerous|worth|necessary|"
    r"possible|ethical|wrong|fair|unfair|harmful|helpful|useful|useless)(?: (?:than|for|to|in|at|if|when|enough|it)\b[^?]*)?)\?",
    re.IGNORECASE,
)
_KOREAN_QUESTION = re.compile(
    r"무엇|무슨|뭐|뭘|왜|언제|누가|누구|어디|어느|어떤|어떻|얼마|몇|아니면|또는|혹은|중에|까[,?] "
)
_KOREAN_ENDS = (
    (
        re.compile(r"(?P<said>[^?]*[은는이가도] [^?]*[가-힣]야) (?:할까|하나|하는가|합니까|될까|되나)요?\?"),
        " 한다.",
    ),
    (re.compile(r"(?P<said>[^?]*[은는이가도] [^?]*적)(?:인가|일까|입니까)요?\?"), "이다."),
)


def motion_of(topic: str) -> str:
    """Return the motion a yes-or-no question asks about; any other text as it is, on one line."""
    topic = " ".join(topic.split())
    return _should(topic) or _is(topic) or _korean(topic) or topic


def asks_about_motion(question: str) -> bool:
    """Whether a question certainly asks whether a motion holds, so that it is answered for or against."""
    return len(question) <= MOST_QUESTION and motion_of(question) != " ".join(question.split())


_SIDES = re.compile(
    r"(?P<yes>yes|네|예|찬성|그렇다|그렇습니다)|(?P<no>no|아니요|아니오|아니다|아닙니다|반대)", re.IGNORECASE
)


def side_of(answer: str) -> tuple[str, str]:
    """Return the side that an answer begins with, yes or no, and the word that says so; two empty texts for neither.

    One that says what it depends on is no side, also behind a "yes".
    """
    found = _SIDES.match(answer)
    rest = answer[found.end() :] if found else ""
    if found is None or rest[:1].isalnum() or _DEPENDS.search(rest):
        return "", ""
    return str(found.lastgroup), found[0]


# "Yes and no" and "No one knows" take no side either.
_DEPENDS = re.compile(
    r"\b(?:if|unless|only|but|except|provided|depends)\b|경우|조건|다만|단,|지만|에 따라"
    r"|^\s+(?:and no|one|clear|simple|single|easy|idea|opinion|position)\b",
    re.IGNORECASE,
)


def _should(topic: str) -> str:
    words = topic.removesuffix("?").split()
    if not topic.endswith("?") or len(words) < 3 or words[0].lower() != "should" or "?" in topic[:-1]:
        return ""
    lower = [word.lower() for word in words]
    if "or" in lower:
        return ""
    place = 2 if lower[1] in _PRONOUNS and lower[2] not in _LINKS else _verb(lower)
    if place is None:
        return ""
    return _sentence(" ".join([*words[1:place], "should", *words[place:]]) + ".")


def _verb(words: list[str]) -> int | None:
    """Return the place of the verb behind "should", None where it is not certain."""
    for place, word in enumerate(words):
        subject = words[1:place]
        if word in _LINKS or "," in word:
            return None
        if not subject or subject[-1] in _LEADING:
            continue
        if word in _VERBS or (word in _VERBS_OR_NOUNS and _leaves_no_doubt(subject)):
            return place
        if word in _VERBS_OR_NOUNS:
            return None
    return None


def _leaves_no_doubt(subject: list[str]) -> bool:
    last = subject[-1]
    plural = last.endswith("s") and not last.endswith(("ss", "us", "is")) and last not in _MODIFIERS
    return plural or (subject[0] in _LEADING and len(subject) == 2 and last in _ACTORS)


def _is(topic: str) -> str:
    found = _IS.fullmatch(topic)
    if found is None:
        return ""
    subject = found["subject"].lower().split()
    if not _LINKS.isdisjoint(subject) or subject[-1] in _LEADING or subject[0] in ("there", "it", "this"):
        return ""
    return _sentence(f"{found['subject']} {found['verb'].lower()} {found['rest']}.")


def _korean(topic: str) -> str:
    """Return the statement: the order of its words stays, so that only alternatives and open questions are in doubt."""
    if _KOREAN_QUESTION.search(topic):
        return ""
    for pattern, end in _KOREAN_ENDS:
        if found := pattern.fullmatch(topic):
            return found["said"] + end
    return ""


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
