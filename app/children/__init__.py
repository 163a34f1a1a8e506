"""Child processes: how they are started, what they share, and the JSON lines between them and their parent.

`processes`: the command lines and environments of Moot's own programs, and ending with the parent; the
commands of the user's programs, and what a program has started; downloads of a package with pip or uv.
`import_check`: a child program that says which libraries can be loaded.
`host_client`: the parent's end of a host, and a child program for one request; `processes` has the host's
end. Also proxy and certificates. `private_files`: folders, files and logs that only the user can read.
`login_start`: Moot without a window when the user logs in.
"""
