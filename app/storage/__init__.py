"""All files.
Sessions: `sessions` (the store, its thread, the trash), `session_log` (a log while it is written, and how
often text that streams is: FLUSH_SECONDS), `log` (a whole log, and replaying it), `lines` (of a log),
`records`, `index` (the list of sessions), `search`, `session_files` (what is made in sessions, with all
versions), `chosen_folder` (of the user's, in which that may be). `codec` converts all of Moot's own JSON.
Documents: `documents` (also definitions and drafts), `connections` (providers and MCP servers), `json_file`
(also replaced files). Also `usage_ledger`; `secrets` (also the keyring), `redaction` (also the log of
faults); `stored_data` (backups, restoring, and upgrades of older files), `foreign_file`; `paths`, `access`
(lock and permissions), `file_system`, `threads`.
"""
