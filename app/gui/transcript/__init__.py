"""The transcript of a session: painted rows in a scroll area, without a widget per message.

The widget, with its scroll bar, and what a screen reader is told: transcript_view. What happens becomes rows:
feed (also what is laid out later), transcript_model (which rows a turn has, how far calls and sub-agents
are). Rows on the screen: canvas (also which rows have documents), row_heights (and which rows are on screen).
A row: painted_row is the base, with the line that says who speaks, chips and thinking; message_rows
(messages, questions), call_rows (calls, heads of sub-agents and steps, summaries). In a row: row_text (text,
code, tables; its look and how far sub-agents are indented), pictures; its words: row_words. The reader:
selection (also pointer, keyboard and what can be done with a message), search (also marks).
"""
