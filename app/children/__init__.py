"""Child processes: how they are started, what they share, and the JSON lines between them and their parent.

`processes`: commands, environments, and ending with the parent. `host_client`: the parent's end of a host.
`packages`: downloads of a package with pip or uv. `jobs`: a child program for one request. `pipes`: the host's end. `private_files`: folders, files and logs that only the user can read.
"""
