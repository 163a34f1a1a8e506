"""Which paths a file of a session may have."""

import pytest

from app.core.session_files import MOST_NAME, BadPathError, check_beside, checked_path

TAKEN = (
    "report.md",
    "notes/plan.md",
    "보고서/1차 초안.md",
    "a b/c-d_e (1).csv",
    "x" * MOST_NAME,
    "한" * 80,
    "con1.txt",
    "lpt.txt",
    "exe",
    "report.exe.md",
    "'quoted' & more.txt",
)
REFUSED = {
    "nothing outside": ["", ".", "..", "../x", "a/../b", "a/..", "./a", "a//b", "a/", "a/./b"],
    "absolute": ["/", "/etc/passwd", "//host/share"],
    "one of the characters": ["C:/x", "a\\b", "a:b", "a*", "a?", 'a"', "<a", "a>", "a|b", "a:$DATA"],
    "dot or a slash": ["a․md", "‥/x", "a…", "a／b", "．．/x", "a＼b", "⒈md", "﹒﹒/x"],
    "invisible": ["a\0", "a\nb", "a\u200bb", "a\u202eb", "a\u00a0b", "\ufeffa", "a\u3164", "a\x7f", "\ud800"],
    "begins with a dot": [".env", ".git/config", "a/.versions/log.jsonl", "..."],
    "ends with a dot or a blank": ["a.", "a ", "a./b", "a /b", "a.exe.", "a.exe "],
    "reserves": [
        "CON",
        "con.txt",
        "a/Prn",
        "nul.md",
        "COM1",
        "lpt9.x",
        "COM¹",
        "ＣＯＮ",
        "aux .md",
        "CONOUT$",
    ],
    "might run them": [
        *("a.exe", "a.EXE", "a.bat", "x.ps1", "x.vbs", "x.lnk", "x.desktop", "x.command", "x.hta"),
        *("a.ｅｘｅ", "x.app/Contents/a", "x.exe/readme.md", "a.\u017fcr"),
    ],
    "a file for keys": ["id_rsa", "ssh/ID_ED25519", "server.pem", "a.key", "x.PFX"],
    "over 240 bytes": ["x" * (MOST_NAME + 1), "한" * 81, "a/" + "y" * 241],
    "characters; at most": ["a/" * 500 + "a"],
}


@pytest.mark.parametrize("path", TAKEN)
def test_usual_paths_are_taken_as_they_are(path: str) -> None:
    assert checked_path(path) == path


@pytest.mark.parametrize(("why", "path"), [(why, path) for why, paths in REFUSED.items() for path in paths])
def test_paths_that_lead_out_or_run_are_refused_with_the_reason(why: str, path: str) -> None:
    with pytest.raises(BadPathError) as refused:
        checked_path(path)
    assert why in str(refused.value)


def test_two_forms_of_the_same_hangul_are_one_path() -> None:
    assert checked_path("\u1112\u1161\u11ab.md") == "한.md"


@pytest.mark.parametrize(
    "path", ["Report.md", "REPORT.MD", "ｒeport.md", "NOTES/other.md", "notes", "report.md/x"]
)
def test_a_path_that_differs_by_case_alone_or_is_a_folder_cannot_stand_beside_another(path: str) -> None:
    with pytest.raises(BadPathError, match="already"):
        check_beside(path, ["report.md", "notes/plan.md"])


@pytest.mark.parametrize("path", ["report.md", "notes/plan.md", "notes/plan2.md", "note", "report.md.txt"])
def test_other_paths_can(path: str) -> None:
    check_beside(path, ["report.md", "notes/plan.md"])
