"""Documents as Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from app.core.message import Attachment
from app.core.text import escape_markdown, fenced
from app.engine.export.document import DocumentHead, DocumentPart, Entry, ListItem, Section
from app.engine.export.parts import text_of


def as_markdown(parts: Iterable[DocumentPart]) -> Iterator[str]:
    """Yield a document as Markdown, part by part; sub-agents are nested quotes.

    Citations are links to an HTML anchor, which is what GitHub, VS Code and pandoc follow; others leave it out.
    """
    cited: set[str] = set()
    for part in parts:
        match part:
            case DocumentHead():
                lines = [f"# {escape_markdown(part.title)}", ""]
                lines += [f"- {label}: {escape_markdown(value)}" for label, value in part.facts]
            case Section():
                cited.update(cite.anchor for line in part.lines for cite in line.cites)
                lines = ["", "", f"## {escape_markdown(part.heading)}"]
                lines += ["", escape_markdown(part.text)] if part.text else []
                lines += ["", *map(_item, part.lines)] if part.lines else []
                lines += files_as_markdown(part.files)
            case Entry():
                anchor = f'<a id="{part.anchor}"></a>' if part.anchor in cited else ""
                heading = f"**{escape_markdown(part.heading)}**"
                quote = "> " * part.depth
                text = f"{anchor}{heading}\n\n{entry_text(part)}".rstrip().split("\n")
                lines = ["", "", *(f"{quote}{line}".rstrip() for line in text)]
        yield "\n".join(lines).rstrip()
    yield "\n"


def entry_text(entry: Entry) -> str:
    """Return what stands below the heading of an entry, as Markdown."""
    lines = entry.body.split("\n") if entry.body else []
    # An entry without text begins where its text would be.
    lines += files_as_markdown(entry.files)[0 if entry.body else 1 :]
    lines += [""] if lines and entry.notes else []
    return "\n".join([*lines, *(f"*{escape_markdown(note)}*" for note in entry.notes)])


def files_as_markdown(attachments: Sequence[Attachment]) -> list[str]:
    """Return the lines of attachments: their names, and the content of texts."""
    lines = []
    for one in attachments:
        lines += ["", f"*{escape_markdown(f'[{one.name}]')}*"]
        lines += ["", *fenced(text_of(one)).split("\n")] if one.text else []
    return lines


def _item(line: ListItem) -> str:
    box = "" if line.done is None else "[x] " if line.done else "[ ] "
    cites = (f"[{_link_text(one.text)}](#{one.anchor})" for one in line.cites)
    return "- " + box + " ".join(filter(None, (escape_markdown(line.text), *cites)))


def _link_text(text: str) -> str:
    """Return the text of a link, which its own brackets would end."""
    return escape_markdown(text.strip("[]")).replace("]", "\\]")
