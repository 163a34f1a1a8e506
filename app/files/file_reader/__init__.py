"""The child process that reads one document or picture and ends.

`pdf`, `office`, `packed` (EPUB, ODT, HWPX), `web_page`, `picture`. `document` is what each of them gives, `archive`
checks zip files.
"""
