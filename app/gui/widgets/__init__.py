"""Small widgets used in several places: buttons and inputs in controls, labels in label, layouts in boxes.

Words and names: wording. Layout over time: steps builds a page step by step.
Cards that ask the user: question_card has their base; approval_card, form_card, hand_over_card and page_card the others.
Writing: composer, queue_strip. Choices: model_choice, model_menu, agent_choices, answer_style_choice, folder_choice,
segmented, chip_list. Lists: ordered_list, editable_row, plan_list. definition_editor is the base of editors that save by
themselves. Also search (find bars and search fields), badge, offers, toast, picture_viewer.
"""
