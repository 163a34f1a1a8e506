"""Small widgets used in several places: buttons and inputs in controls, labels in label, layouts in boxes.

Cards that ask the user: question_card has their base, approval_card and page_card the others.
"""
