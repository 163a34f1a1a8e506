"""A question as the motion it asks about; used by the perspective of small models.

"I support this motion" means little to one when the motion is a question: it took the wrong side.
"""

import re

_SHOULD = re.compile(
    r"should (?P<subject>(?:(?:the|our|all|every|most|public|private|a|an) )?[\w'’-]+) "
    r"(?!(?:of|in|on|at|for|from|with|without|under|over|above|below|who|that|which|and|or|between)\b)"
    r"(?P<rest>[^?]+)\?",
    re.IGNORECASE,
)
_IS = re.compile(
    r"(?P<verb>is|are) (?P<subject>[^?]+?) "
    r"(?P<rest>(?:better|worse|more|less|good|bad|safe|dangerous|worth|necessary|needed|possible|ethical|"
    r"right|wrong|fair|unfair|harmful|helpful|useful|useless|too)\b[^?]*)\?",
    re.IGNORECASE,
)


def motion_of(topic: str) -> str:
    """Return "Cities should ban cars." for "Should cities ban cars?"; any other text as it is."""
    topic = " ".join(topic.split())
    should = _SHOULD.fullmatch(topic)
    if should:
        return _sentence(f"{should['subject']} should {should['rest']}.")
    is_so = _IS.fullmatch(topic)
    if is_so:
        return _sentence(f"{is_so['subject']} {is_so['verb'].lower()} {is_so['rest']}.")
    return topic


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
