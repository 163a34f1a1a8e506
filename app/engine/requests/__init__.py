"""What the turn of an assistant is about and what its model is sent; pure.

request is what a model gets of the turns (core/turns), merging joins neighbours of one role, attached_files is what it gets
of files, answer_style the creativity and length of answers, attempt what a request is held to. Groups: hand_overs is what the calls of a hand-over say, leading the orchestrator as an assistant.
"""
