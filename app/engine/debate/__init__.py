"""Debates: director says whose turn it is, run takes it, statement is the turn of a participant.

commands has what a face may do, held_turns the commands for turns that wait or failed, forking makes another debate.
setup has the checks of a new debate, modes the modes and roles, motion the motion of a question, next_speaker the rule of
free discussions, perspective what a participant's model gets, notes what it gets of old statements, providers who can
take part, vote and judge, voting_check which small models may.
verdict has the ballots and the verdict, minority what is held beside it, words how it is said, replies what is read
in the words of voters and judges, families which models are related, estimates what a debate will cost.
"""
