"""The page of chats: transcript, composer with attachments, state line, and the orchestrator's box of a group."""
