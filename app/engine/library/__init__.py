"""The library of the user: assistants, groups and workflows. Start in definitions.py; agents.py has the assistants."""
