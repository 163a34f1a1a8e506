"""What sessions do; knows the types of `core`, and neither screens nor disks nor networks.

engine is the facade for the faces, runner the loop of a session that runs, director the decisions a session's director
can make, session_kinds what differs between the kinds, permissions what runs without a question. The loop of one turn is in turns, its waiting in availability.
"""
