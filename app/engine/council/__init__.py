"""Councils: several models answer the same question unseen by each other, and what they differ on is shown.

Pure: director says which calls come next and how another council begins, record what the messages hold and
quote of files, outcome what follows from them, also in words, verdicts all that were given so far, also in a
debate, requests what models and judges get. run makes the calls, commands has what the user can do, and what
the next step uses. panels are saved sets of participants. export is a debate or a council as a document.
"""
