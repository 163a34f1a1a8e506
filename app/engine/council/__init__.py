"""Councils: several models answer the same question unseen by each other, and what they differ on is shown.

Pure: director says which calls come next, record what the messages hold, outcome what follows from them, replies what is
read in a model's words, requests what a model gets, judging what a judge and those from outside get, words how it is said. run
makes the calls, commands has what the user can do.
panels are saved sets of participants, the journal keeps what was decided and what came of it; puzzles and measuring
say what a council is worth where the answers are known.
"""
