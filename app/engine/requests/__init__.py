"""What the turn of an assistant is about and what its model is sent; pure.

request is what a model gets of the turns (core/turns), what the request is held to, what a provider's cache
may keep of it, the hand-overs of a group, and its orchestrator as an assistant. merging joins neighbours of
one role, attached_files is what it gets of files, answer_style the creativity and length of answers.
"""
