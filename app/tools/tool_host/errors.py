"""The error of a request that the tool host could not fulfil."""

from app.core.tool import ServerProblem


class RequestError(Exception):
    """The text says what failed, where, and what helps; `problem` is a code of `core.tool`."""

    def __init__(self, text: str, problem: str = ServerProblem.FAILED) -> None:
        super().__init__(text)
        self.problem = problem
