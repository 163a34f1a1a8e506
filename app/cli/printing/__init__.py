"""How sessions look in a terminal. `lines`: what all kinds share; `debates`, `councils`; `chats`: also groups and workflows."""
