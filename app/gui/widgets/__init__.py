"""Small widgets used in several places: buttons, inputs and text boxes in controls, layouts in boxes.

Labels and words: text. The framed box in which one writes, search fields and find bars: composer. form: rows
of fields, which are data, pages built step by step, and the base of editors that save by themselves. Cards
that ask the user: question_card has their base, and forms; approval_card (also hand-overs and pages).
Choices: model_choice (with its menu, its button, and how a model answers), choices (segments and chips).
Lists: item_list, and editable_lists (plan, queued messages). memory: what assistants remember. Also badge,
notices (toasts, the banner, offers), picture_viewer.
"""
