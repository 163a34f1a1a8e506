"""The page of chats: chat_page with transcript and the line over its chat_composer.

message_box is what is written in, with the files that go with it; member_list and orchestrator_box show the work of a
group, result_card what came of work.
"""
