"""The transcript of a session: painted rows in a scroll area, without a widget per message.

The widget: transcript_view. What happens becomes rows: feed, transcript_model, row_tree (order of rows), turn_book.
Rows on the screen: canvas, row_store (which rows have documents), row_pixels (painted rows that are kept), row_heights,
row_scroller. A row: message_row, call_rows, question_row; its text (code, tables): segments; its pictures: pictures; its
words: row_words; its look and how far sub-agents are indented: row_style. The reader: pointer, keyboard, selection, search, accessible.
"""
