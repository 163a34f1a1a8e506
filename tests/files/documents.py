"""Makes documents of every format that can be read, as small as they can be."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from hashlib import md5
from pathlib import Path

import office_oxide

MARKDOWN = "# 분기 보고\n\nSales rose by 12 percent.\n\n| Region | Sum |\n| --- | --- |\n| 서울 | 40 |\n"
SAYS = ("분기 보고", "Sales rose by 12 percent.", "서울")
LATIN = ("Quarterly report", "Sales rose by 12 percent.", "Seoul")


def a_pdf(
    pages: Sequence[str],
    *,
    trailer: str = "",
    objects: Sequence[str] = (),
    seal: Callable[[int, bytes], bytes] = lambda _number, data: data,
) -> bytes:
    """Return a PDF file with a page for each text, of which each line is one on the page."""
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(pages)))
    made = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for place, text in enumerate(pages):
        shown = "".join(f"({line}) Tj T* " for line in text.split("\n") if text)
        plain = f"BT /F1 10 Tf 12 TL 50 780 Td {shown}ET"
        stream = seal(5 + 2 * place, plain.encode("latin-1")).decode("latin-1")
        made.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * place} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        made.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    made += objects
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, body in enumerate(made, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1"))
    table = out.tell()
    out.write(f"xref\n0 {len(made) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{place:010d} 00000 n \n" for place in places).encode())
    out.write(
        f"trailer << /Size {len(made) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF".encode()
    )
    return out.getvalue()


def a_locked_pdf() -> bytes:
    """Return a PDF file that no empty password opens."""
    rules = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >>"
    return a_pdf(["secret"], objects=[rules], trailer=f"/Encrypt 6 0 R /ID [<{'43' * 16}> <{'43' * 16}>]")


def a_sealed_pdf(pages: Sequence[str], password: str) -> bytes:
    """Return a PDF file that this password opens: RC4 with 40 bits, the oldest way and the shortest to write."""
    padding = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
    padded = (password.encode() + padding)[:32]
    owner = _rc4(md5(padded).digest()[:5], padded)
    key = md5(padded + owner + (-4).to_bytes(4, "little", signed=True) + b"C" * 16).digest()[:5]

    def seal(number: int, data: bytes) -> bytes:
        return _rc4(md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10], data)

    user = _rc4(key, padding)
    rules = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{owner.hex()}> /U <{user.hex()}> >>"
    place = 4 + 2 * len(pages)
    ids = f"/Encrypt {place} 0 R /ID [<{'43' * 16}> <{'43' * 16}>]"
    return a_pdf(pages, objects=[rules], trailer=ids, seal=seal)


def _rc4(key: bytes, data: bytes) -> bytes:
    state, at = list(range(256)), 0
    for place in range(256):
        at = (at + state[place] + key[place % len(key)]) % 256
        state[place], state[at] = state[at], state[place]
    out, one, two = bytearray(), 0, 0
    for byte in data:
        one = (one + 1) % 256
        two = (two + state[one]) % 256
        state[one], state[two] = state[two], state[one]
        out.append(byte ^ state[(state[one] + state[two]) % 256])
    return bytes(out)


def a_zip(entries: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


ODT = {
    "mimetype": "application/vnd.oasis.opendocument.text",
    "content.xml": """<?xml version="1.0"?><o:document-content xmlns:o="urn:o" xmlns:text="urn:text" xmlns:table="urn:t">
<o:body><text:h>분기 보고</text:h><text:p>Sales rose<text:s/>by 12 percent.</text:p><table:table><table:table-row>
<table:table-cell><text:p>서울</text:p></table:table-cell><table:table-cell><text:p>40</text:p></table:table-cell>
</table:table-row></table:table></o:body></o:document-content>""",
}
HWPX = {
    "mimetype": "application/hwp+zip",
    "Contents/section1.xml": """<hs:sec xmlns:hs="urn:s" xmlns:hp="urn:p"><hp:p><hp:run><hp:t>서울</hp:t></hp:run></hp:p>
</hs:sec>""",
    "Contents/section0.xml": """<?xml version="1.0"?><hs:sec xmlns:hs="urn:s" xmlns:hp="urn:p"><hp:p><hp:run>
<hp:secPr>not shown</hp:secPr><hp:t>분기 보고</hp:t></hp:run></hp:p><hp:p><hp:run><hp:t>Sales rose<hp:fwSpace/>by
 12 percent.</hp:t></hp:run></hp:p></hs:sec>""".replace("by\n ", "by "),
}
EPUB = {
    "META-INF/container.xml": """<container xmlns="urn:c"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles>
</container>""",
    "OEBPS/book.opf": """<package xmlns="urn:opf"><manifest>
<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="part%20one.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="a"/><itemref idref="b"/></spine></package>""",
    "OEBPS/part one.xhtml": "<html><head><title>x</title></head><body><h1>분기&nbsp;보고</h1><p>Sales <b>rose</b> by 12"
    " percent.</p></body></html>",
    "OEBPS/two.xhtml": "<html><body><p>서울</p><script>hidden()</script></body></html>",
}
HTML = """<!DOCTYPE html><html><head><title>t</title></head><body><nav>Menu</nav><article><h1>분기 보고</h1>
<p>Sales rose by 12 percent.</p><table><tr><td>서울</td><td>40</td></tr></table></article></body></html>"""


def write_all(folder: Path) -> list[Path]:
    """Write a document of each format, and return their paths."""
    for name in ("docx", "pptx", "xlsx"):
        office_oxide.create_from_markdown(MARKDOWN, name, str(folder / f"report.{name}"))
    (folder / "report.pdf").write_bytes(
        a_pdf(["Quarterly report\nSales rose by 12 percent.", "Seoul and others"])
    )
    (folder / "report.odt").write_bytes(a_zip(ODT))
    (folder / "report.hwpx").write_bytes(a_zip(HWPX))
    (folder / "report.epub").write_bytes(a_zip(EPUB))
    (folder / "report.html").write_text(HTML, encoding="utf-8")
    return sorted(folder.glob("report.*"))
