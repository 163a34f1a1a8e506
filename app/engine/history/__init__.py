"""What of a long conversation a model is sent: all of it up to a limit, then a summary of what came before.

token_count says how long a request is, summaries what a summary stands for, pruning shortens a long turn. A summary is a
message beside the tree of turns: it stands for every turn up to the one it names, and nothing it stands for is changed or
removed.
"""
