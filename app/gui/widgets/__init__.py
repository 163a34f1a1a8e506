"""Small widgets used in several places: buttons and inputs in controls, labels in label, layouts in boxes.

Cards that ask the user: prompt_card is the base of question_card, approval_card and page_card.
"""
