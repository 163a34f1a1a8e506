"""All files. Sessions: `sessions` (the store), `writer` (its thread), `session_log` (a log while it is written),
`streamed_text` (how often it is written: FLUSH_SECONDS), `whole_log`, `log`, `replay`, `records`, `index` (the list of
sessions), `search`. `codec` converts all of Moot's own JSON. Documents:
`documents`, `definitions`, `other_versions` (of replaced files), `providers_file`, `mcp_file`, `drafts`, `json_file`. Also
`usage_ledger`; `secrets`, `system_keyring`, `redaction`, `fault_log`; `stored_data` with `backup`, `restore`, `upgrades`,
`trash`, `foreign_file`; `paths`, `access` (lock and
permissions), `file_system`, `threads`.
"""
