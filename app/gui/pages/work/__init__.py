"""The page of all work: work_page has the list with its switch and rows,
what stands beside it about the chosen one, and the tasks of an assistant in it.
"""
