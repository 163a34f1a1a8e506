"""Debates: director says whose turn it is, run takes it; what is beside the turns is in `engine.council`.

commands has what a face may do, run also the turn of a participant and the commands for turns that wait or
failed, director also when all vote and how another debate goes on. setup has the checks of a new debate,
modes the modes and roles, the motion of a question and the rule of free discussions, perspective what a
participant's model gets, notes what it gets of old statements, providers who can take part, vote and judge.
replies is what is read in the words of voters and judges, families which models are related, estimates what a
debate will cost.
"""
