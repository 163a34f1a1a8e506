"""How a command ends, as the numbers that scripts rely on; used by everything of the command line."""

OK = 0
FAULT = 1
BAD_INPUT = 2
WAITS = 3
PAUSED_OR_STOPPED = 4
