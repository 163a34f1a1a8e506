"""The right panel: debates (Setup, Discussion, History), workflows, and the plan.

right_panel is its base; conversation_view is the base of the views of debates, councils and chats, with the
cards of their open questions.
"""
