"""The child process that reads one document or picture, or sets one page as a PDF (`printed_page`), and ends.

`pdf`, `office` (also EPUB, ODT, HWPX, and the checks of zip files), `web_page`, `picture`. `document` is what each of
them gives.
"""
