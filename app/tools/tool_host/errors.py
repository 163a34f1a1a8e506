"""What the tool host answers a request with that could not be done."""

from app.core.tool import FAILED


class RequestError(Exception):
    """A request could not be done; the text says what, where and what to do, `problem` is a code of core."""

    def __init__(self, text: str, problem: str = FAILED) -> None:
        super().__init__(text)
        self.problem = problem
