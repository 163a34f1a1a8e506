"""The command line; it starts without Qt. `main` handles signals and errors; `arguments` is a command line as data, `parser` reads it.

`running` runs a command or hands it to the running Moot through `control`. `commands`: what each command does, with a
`CommandRun` (`command_run`). `printing`: how sessions look. `terminal`: output, and what the user types. `mcp_server`: Moot for other agents, `owner`:
how it reaches the Moot that holds the data directory, and `background`: Moot without a window.
"""
