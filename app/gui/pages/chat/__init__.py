"""The page of chats: chat_page with transcript, message_box in its chat_composer, and state_line.

attachment_strip takes files, question_cards are over the open questions; member_list and orchestrator_box show the work
of a group.
"""
