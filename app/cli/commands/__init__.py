"""The commands by topic; `sessions` has the table of all of them. `doctor` and `session_list` need no engine."""
