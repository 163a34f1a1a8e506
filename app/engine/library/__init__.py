"""The library of the user: assistants, groups, workflows, folders, prompts, skills. Start in definitions.py.

agents.py has the assistants and the tool by which one calls another. definitions.py has what all definitions
have in common, what sessions of a folder are given, the prompts and the skills, and puts together what two
sides have changed.
"""
