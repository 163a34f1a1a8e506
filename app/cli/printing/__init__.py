"""How sessions look in a terminal.
`lines`: what all commands print; `sessions`: what all kinds of sessions share; `chats`: also groups,
workflows, debates and councils.
"""
