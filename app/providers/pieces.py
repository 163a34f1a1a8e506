"""What a line of the model host holds of an answer; used by `RemoteModels`."""

from collections.abc import Iterator

from app.children.host_client import Line
from app.core.message import Usage
from app.core.provider import CallPiece, Delta, Finished, PicturePiece, Text
from app.core.texts import clean_text, clean_values


def deltas(line: Line) -> Iterator[Delta]:
    """Yield the pieces of an answer that a line holds."""
    if "text" in line or "thinking" in line:
        yield Text(text=clean_text(line.get("text", "")), thinking=clean_text(line.get("thinking", "")))
    for index, call_id, name, arguments in line.get("calls", ()):
        yield CallPiece(
            index=index, id=clean_text(call_id), name=clean_text(name), arguments=clean_text(arguments)
        )
    for index, media_type, data in line.get("images", ()):
        yield PicturePiece(index=index, media_type=media_type, data=data)


def end_in(finished: Line) -> Finished:
    """Return the end of an answer that a line holds."""
    state = clean_values(finished["state"])
    return Finished(
        reason=finished["reason"],
        usage=Usage(**finished["usage"]),
        state=state if isinstance(state, dict) else None,
        lost_pictures=tuple(finished["lost_pictures"]),
        sources=tuple((address, title) for address, title in finished["sources"]),
        left_out=tuple(finished["left_out"]),
    )
