"""The page of chats: chat_page with transcript and the line over its chat_composer.

message_box is what is written in, with the files that go with it; limits_menu says how far a run goes; member_list and
orchestrator_box show the work of a group, working_strip the sub-agents that work, session_files what was made in a session,
result_card what came of work.
"""
