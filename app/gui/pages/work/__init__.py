"""The page of all work: work_page has the list with its switch, work_rows what a row shows and how it is painted,
work_details what stands beside the list about the chosen one, queue_view the tasks of an assistant in it.
"""
