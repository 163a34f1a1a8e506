"""All files.
Sessions: `sessions` (the store, its thread, the trash), `session_log` (a log while it is written, and how
often text that streams is: FLUSH_SECONDS), `log` (a whole log, and replaying it), `lines` (of a log), `index`
(the list of sessions, and search), `session_files` (what is made in sessions, with all versions). `skills`
(folders of skills). `codec` converts all of Moot's own JSON, also records of sessions. Documents: `documents`
(also definitions and drafts), `json_file` (also providers and MCP servers, and replaced files). Also
`usage_ledger`; `secrets` (also the keyring, removing keys from texts, and the log of faults); `stored_data`
(backups, restoring, and upgrades of older files), `foreign_file`; `paths`, `access` (lock and permissions,
and which folders of the user a session may use), `file_system`, `threads`.
"""
