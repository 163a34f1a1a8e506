"""The child process that reads one document, picture or web page, writes one page as a PDF (`printed_page`)
or a Word document (`word_file`), or compares two texts (`difference`), and ends.

`pdf`, `office` (also EPUB, ODT, HWPX, and the checks of zip files), `web_page`, `picture`. `document` is what
each of them gives; also texts that are not UTF-8.
"""
