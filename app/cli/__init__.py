"""The command line; it starts without Qt. `main` handles signals and errors; `arguments` is a command line as data, `parser` reads it.

`running` runs a command or hands it to the running Moot through `control`. `commands`: what each command does, with a
`CommandRun` (`command_run`); `exit_status`. `printing`: how sessions look. `terminal`: output, and what the user types;
`thinking_line`: how long a model has been thinking. `mcp_server`: Moot for other agents, `owner`: how it reaches the
Moot that holds the data directory, and `background`: Moot without a window.
"""
