"""The transcript of a session: painted rows in a scroll area, without a widget per message.

The widget: transcript_view. What happens becomes rows: feed, transcript_model, pending_messages (laid out later),
row_tree (which rows a turn has), turn_book (how far calls and sub-agents are). Rows on the screen: canvas, row_store
(which rows have documents), row_pixels (painted rows that are kept), row_heights, row_scroller, scroll_widgets.
A row: painted_row is the base; message_row, call_rows, group_rows, question_row, summary_row. In a row: speaker_line,
message_parts, segments and segment_stack (text, code, tables), pictures; its words: row_words; its look and how far
sub-agents are indented: row_style. The reader: pointer, keyboard, selection, search, marks, message_actions, accessible.
"""
