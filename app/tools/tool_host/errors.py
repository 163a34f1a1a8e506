"""What the tool host answers a request with that could not be done."""


class RequestError(Exception):
    """A request could not be done; the text says what, where and what to do."""
