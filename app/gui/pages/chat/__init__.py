"""The page of chats: chat_page with transcript and the line over its chat_composer.

message_box is what is written in, with the files that go with it; chat_composer also says how far a run goes.
orchestrator_box shows the work of a group and its members, over_input the sub-agents that work, what was made
in a session, and what came of it.
"""
