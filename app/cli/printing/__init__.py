"""How sessions look in a terminal.
`lines`: what all commands print; `sessions`: what all kinds of sessions share; `debates`: also councils;
`chats`: also groups and workflows.
"""
