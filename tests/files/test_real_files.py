"""Twenty documents that others made, fetched from Debian packages by name and hash: each is read, or refused in words.

Skipped where Debian's packages cannot be downloaded; a file of another version of its package is left out.
"""

import asyncio
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.files.reader import FileReaders

# Package and path, then the SHA-256 and words of the text; a file without words contains no text.
FILES = """
bash-doc usr/share/doc/bash/bash.pdf
ebd1361fe662e7e6b7386da02986bda05a434f85667939f72356fa86de19dd6d GNU Bourne-Again SHell
bash-doc usr/share/doc/bash/bashref.pdf
104971d389c0b9b7a261b0b3070a53b0d8cce6db1ffddefcc8423ddda92acd87 Bash Reference Manual
developers-reference usr/share/developers-reference/developers-reference.epub
415d6a1e351e5f72f85bc9428908a55a47b05a15422bbe962a9a963d04467d41 Reference
developers-reference usr/share/developers-reference/developers-reference.pdf
88e5ac4d15444fd3adb821dc863bd91b820e99a27e65728e74975ab1752652f5 CONTENTS
debian-policy usr/share/doc/debian-policy/policy.epub
3e47d49b3fce68c2c2c731a938c149a040887eefe11cbf50eeb8a03d19fe6ecb Debian Policy Manual
libtasn1-doc usr/share/doc/libtasn1-doc/libtasn1.pdf
3917eb460d87e275f9792b3597029873fd77890ed3ccebe40bbc5a3a7ee516d3 Abstract Syntax Notation One
python3-docx usr/lib/python3/dist-packages/docx/templates/default.docx
2094b5bddffe9cf973d61fe03388413804f034160718494a65db7e98da40d35d
r-cran-officer usr/lib/R/site-library/officer/doc_examples/example.docx
cf22eda5ca1cd378df4ef506d9e0ecd31b407a21077c6a10ae3f20d12db324ab Lorem ipsum
r-cran-officer usr/lib/R/site-library/officer/doc_examples/landscape.docx
cc9cd1803ac9b99533f8501dc9beb327e21e1e6f8c00679df9e191f463c2c103 an example
r-cran-officer usr/lib/R/site-library/officer/doc_examples/example.pptx
9113453408f2556ac191c581cdf1d302f354f01955241d8a9b9eedcc1e63bb5f blah blah
r-cran-officer usr/lib/R/site-library/officer/template/template.pptx
85a72ebcd4b11630f385ceddd51bd50998e10394a860d9dcbffeeed240f32854
r-cran-openxlsx usr/lib/R/site-library/openxlsx/extdata/readTest.xlsx
eff2825801a6ecacec17353738feca4fbb0fe79644d41ae08487f49a9c006931 Var1
r-cran-openxlsx usr/lib/R/site-library/openxlsx/extdata/loadExample.xlsx
2c35b3360e5cbdbaaebe5d39d5d64d41a31cee45d9df0a4fdfea3b0742afa6dd Sepal Length
r-cran-openxlsx usr/lib/R/site-library/openxlsx/extdata/loadPivotTables.xlsx
fef9e207ef73200aa4506c2aab26df6b59c7e899e597389733b6f361f1064fab virginica
r-cran-openxlsx usr/lib/R/site-library/openxlsx/extdata/loadThreadComment.xlsx
97c8dd108b87fce2ed64c796adc92133c0cbd94a159e40068727bc83bdcc1963 New comment
r-cran-readxl usr/lib/R/site-library/readxl/extdata/clippy.xls
715a998f28d8933cfd3963e8bfa97b72c41238b1df1d733e9b88443596e5e2a3 paperclip
r-cran-readxl usr/lib/R/site-library/readxl/extdata/datasets.xls
5857b1dc7f674549df22f9199df35d38d2e0f0c3aee529e70a0238f92df1be61 setosa
r-cran-readxl usr/lib/R/site-library/readxl/extdata/deaths.xlsx
0469b75be78da0ca9b956d81e2338f32fa3f45b00622cef5e6d7a278897eb80a Lots of people
r-cran-readxl usr/lib/R/site-library/readxl/extdata/type-me.xls
a11da3565cbac33e792d0ddea8319f60a76b8fa973240c5a745f60b89ce75534 maybe boolean?
r-cran-readxl usr/lib/R/site-library/readxl/extdata/type-me.xlsx
fde5a5254e2d6e6c9d39740e011401ed87c7b6a518944e206c7aeebdbc662cd8 maybe boolean?
"""


def fetched(package: str, folder: Path) -> bool:
    """Download a package and unpack it into a folder, without installing it."""
    command = ["apt-get", "download", "-q", package]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    archives = list(folder.glob(f"{package}_*.deb"))
    if done.returncode or not archives:
        return False
    subprocess.run(["dpkg", "-x", archives[0], folder / package], check=True)
    return True


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not (shutil.which("apt-get") and shutil.which("dpkg")), reason="no Debian packages here")
async def test_documents_that_others_made_are_read_or_refused_in_words(tmp_path):
    lines = FILES.split("\n")[1:-1]
    rows = [
        (*place.split(), *rest.partition(" ")[::2])
        for place, rest in zip(lines[::2], lines[1::2], strict=True)
    ]
    packages = {row[0] for row in rows}
    there = {package for package in packages if await asyncio.to_thread(fetched, package, tmp_path)}
    if not there:
        pytest.skip("no package could be downloaded")
    read = 0
    for package, name, digest, words in rows:
        path = tmp_path / package / name
        if package not in there or not path.is_file():
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            continue
        text, code = "", ""
        try:
            text = (await FileReaders().read(path)).text
        except BadInput as error:
            code = error.code
        assert words in text if words else code == "file_empty", (path, code)
        read += 1
    print(f"{read} of {len(rows)} documents of {len(there)} packages")
    assert read or there != packages, "all packages are there, but in versions with other files"
