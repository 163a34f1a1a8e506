"""The library of the user: assistants, groups, workflows, folders and prompts. Start in definitions.py.

agents.py has the assistants, folders.py what sessions of a folder are given, saved_prompts.py the prompts,
sub_agents.py the tool by which an assistant calls another. definitions.py
also puts together what two sides have changed.
"""
