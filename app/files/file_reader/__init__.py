"""The child process that reads one document and ends: `pdf`, `office`, `packed` (EPUB, ODT, HWPX), `web_page`."""
