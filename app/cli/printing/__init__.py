"""How sessions look in a terminal. `lines`: what all kinds share; `debates`; `chats`: also groups and workflows."""
