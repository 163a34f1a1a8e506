"""The right panel: debates (Setup, Discussion, History), workflows, and the plan.

conversation_view is the base of the views of debates and chats.
"""
