"""The exit statuses of commands, on which scripts rely."""

OK = 0
FAULT = 1
BAD_INPUT = 2
WAITS = 3
PAUSED_OR_STOPPED = 4
