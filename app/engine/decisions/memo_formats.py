"""How a memo is written: as Markdown, and as a page of HTML that a browser and Qt's own layout show alike."""

from collections.abc import Iterator
from html import escape

from app.core.session import DOCX, PDF, ExportFormat
from app.core.texts import escape_markdown
from app.engine.decisions.memo import Holder, Memo, MemoPart

MEMO_FORMATS = (ExportFormat.MARKDOWN, ExportFormat.HTML, PDF, DOCX)
_INK, _QUIET, _LINE, _ACCENT = "#1f1e1b", "#66635b", "#d9d5cb", "#3b5bdb"
_HEADING = "font-weight:600;line-height:120%"
LABELS, TEXT = 148, 560
"""The widths of the column of labels and of that of the text, in pixels."""
_STYLE = (
    f"body{{font-family:Pretendard,Inter,system-ui,sans-serif;font-size:15px;line-height:155%;color:{_INK}}}"
    "table{border-collapse:collapse}td{vertical-align:top;padding:0}"
    "@media screen and (min-width:1px){body{max-width:708px;margin:64px auto;padding:0 16px}}"
)


def memo_as_markdown(memo: Memo) -> str:
    """Return a memo as Markdown."""
    return "\n\n".join(filter(None, _markdown(memo))) + "\n"


def _markdown(memo: Memo) -> Iterator[str]:
    decision, options, first, last, _nobody = memo.labels
    yield f"# {escape_markdown(memo.title)}"
    yield escape_markdown(memo.lead)
    yield f"*{escape_markdown(' · '.join(memo.head))}*"
    yield f"## {escape_markdown(decision)}: {escape_markdown(memo.decided)}"
    yield escape_markdown(memo.why)
    yield "\n".join(f"- {escape_markdown(label)}: {escape_markdown(value)}" for label, value in memo.facts)
    if memo.options:
        yield f"## {escape_markdown(options)}"
        rows = [f"|  |  | {escape_markdown(first)} | {escape_markdown(last)} |", "| --- | --- | --- | --- |"]
        for option in memo.options:
            text = escape_markdown(option.text)
            held = (", ".join(_held(memo, holders)) for holders in (option.first, option.last))
            text = f"**{text}**" if option.chosen else text
            rows.append(f"| {option.letter} | {text} | {' | '.join(map(escape_markdown, held))} |")
        yield "\n".join(rows)
        yield f"*{escape_markdown(memo.options_note)}*" if memo.options_note else ""
    for part in memo.parts:
        yield f"## {escape_markdown(part.label)}"
        for place, (lead, text) in enumerate(part.paragraphs, 1):
            number = f"{place}. " if part.numbered else ""
            bold = f"**{escape_markdown(lead)}**" if lead else ""
            yield number + " ".join(filter(None, (bold, escape_markdown(text))))
        yield "\n".join(f"*{escape_markdown(note)}*  " for note in part.notes).rstrip()
    yield "---"
    yield f"*{escape_markdown(' · '.join(filter(None, memo.foot)))}*"


def _held(memo: Memo, holders: tuple[Holder, ...]) -> list[str]:
    """Return who holds an option, each with how sure."""
    return [f"{name} {sure}%" if sure is not None else name for name, sure in holders] or [memo.labels[-1]]


def memo_as_html(memo: Memo) -> str:
    """Return a memo as one page of HTML that loads nothing."""
    return (
        f'<!doctype html>\n<html lang="{escape(memo.language)}"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(memo.title)}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(_html(memo))}</body></html>\n"
    )


def _html(memo: Memo) -> Iterator[str]:
    what, when = memo.head
    yield _line(_small(_bold(escape(what), _ACCENT)), _small(escape(when)))
    yield f'<h1 style="{_HEADING};font-size:35px;margin:28px 0 12px 0">{escape(memo.title)}</h1>'
    if memo.lead:
        yield f'<p style="font-size:16px;color:{_QUIET};margin:0 0 20px 0">{escape(memo.lead)}</p>'
    decision, options, *_rest = memo.labels
    yield _part(decision, _decision(memo), accent=True)
    if memo.options:
        yield _part(options, _options(memo))
    for part in memo.parts:
        yield _part(part.label, _paragraphs(part))
    left, right = memo.foot
    yield _rule(_LINE)
    yield _line(_small(escape(left), 11), _small(escape(right), 11))


def _decision(memo: Memo) -> str:
    text = f'<h2 style="{_HEADING};font-size:26px;margin:0 0 8px 0">{escape(memo.decided)}</h2>'
    text += f"<p>{escape(memo.why)}</p>" if memo.why else ""
    if memo.facts:
        cells = "".join(
            f'<td style="padding-right:40px">{_small(escape(label))}<br>{_bold(escape(value))}</td>'
            for label, value in memo.facts
        )
        text += f'<table style="margin-top:8px"><tr>{cells}</tr></table>'
    return text


def _options(memo: Memo) -> str:
    _decision, _options, first, last, _nobody = memo.labels
    heads = (f'<td width="112">{_small(escape(each))}</td>' for each in (first, last))
    rows = [f'<tr><td width="32"></td><td width="270"></td>{"".join(heads)}</tr>']
    for option in memo.options:
        colours = f"background-color:{_ACCENT};color:#ffffff" if option.chosen else f"color:{_INK}"
        style = f"font-weight:600;font-size:12px;{colours}"
        letter = f'<span style="{style}">&nbsp;{escape(option.letter)}&nbsp;</span>'
        held = ("<br>".join(map(escape, _held(memo, holders))) for holders in (option.first, option.last))
        columns = "".join(f'<td style="font-size:14px;padding-top:10px">{each}</td>' for each in held)
        rows.append(
            f'<tr><td style="padding-top:10px">{letter}</td>'
            f'<td style="padding-top:10px;padding-right:12px">{_bold(escape(option.text))}</td>{columns}</tr>'
        )
    note = f'<p style="margin-top:10px">{_small(escape(memo.options_note))}</p>' if memo.options_note else ""
    return f"<table>{''.join(rows)}</table>{note}"


def _paragraphs(part: MemoPart) -> str:
    found = []
    for place, (lead, text) in enumerate(part.paragraphs, 1):
        number = f"{_bold(str(place))}&nbsp;&nbsp;" if part.numbered else ""
        colour = f"color:{_QUIET}" if part.numbered and lead else ""
        bold = escape(lead) if part.numbered or not lead else _bold(escape(lead))
        said = f'<span style="{colour}">{escape(text)}</span>' if text else ""
        found.append(f'<p style="margin:0 0 8px 0">{number}{" ".join(filter(None, (bold, said)))}</p>')
    if part.notes:
        found.append(f'<p style="margin:0">{_small("<br>".join(map(escape, part.notes)))}</p>')
    return "".join(found)


def _part(label: str, text: str, *, accent: bool = False) -> str:
    """Return a part of the page: its label in a column of its own, under a line."""
    colour = _ACCENT if accent else _INK
    named = f'<span style="font-size:13px">{_bold(escape(label), colour)}</span>'
    return (
        f'{_rule(colour if accent else _LINE)}<table width="{LABELS + TEXT}"><tr><td width="{LABELS}" '
        f'style="padding-top:4px">{named}</td><td width="{TEXT}">{text}</td></tr></table>'
    )


def _rule(colour: str) -> str:
    """Return a line across the page, which Qt's layout draws in this colour too."""
    return (
        f'<table width="{LABELS + TEXT}" style="margin:14px 0 14px 0"><tr>'
        f'<td style="background-color:{colour};font-size:1px;line-height:1px" height="1"></td></tr></table>'
    )


def _line(left: str, right: str) -> str:
    return (
        f'<table width="{LABELS + TEXT}"><tr><td>{left}</td>'
        f'<td align="right" style="text-align:right">{right}</td></tr></table>'
    )


def _small(text: str, size: int = 13) -> str:
    return f'<span style="font-size:{size}px;color:{_QUIET}">{text}</span>'


def _bold(text: str, colour: str = _INK) -> str:
    # The fonts that come with Moot have this weight, and none that is bolder.
    return f'<span style="font-weight:600;color:{colour}">{text}</span>'
