"""How sessions look in a terminal. `lines`: what all kinds share; `debates`: also councils; `chats`: also groups and workflows."""
