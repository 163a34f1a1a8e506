"""The command line; it starts without Qt. `main` handles signals and errors; `arguments` reads it by a table.

`running` runs a command or hands it to the running Moot through `control`. `commands`: what each command
does, with a `CommandRun` (`command_run`); `exit_status`; `interrupt`. `printing`: how sessions look.
`terminal`: output, and what the user types. `mcp_server`: Moot for other agents, with how it reaches the Moot
that holds the data directory; `running` is also the Moot without a window.
"""
