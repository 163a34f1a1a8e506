"""Debates: director says whose turn it is, run takes it, held_turns has the commands for turns that wait or failed.

modes has the modes and roles, motion the motion of a question, next_speaker the rule of free discussions, perspective what a participant's model gets,
names the labels of participants, verdict the ballots and the verdict, minority what is held beside it, setup the checks of a new debate.
"""
