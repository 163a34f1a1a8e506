"""Councils: several models answer the same question unseen by each other, and what they differ on is shown.

Pure: director says which calls come next, record what the messages hold, outcome what follows from them, reading
which claims decide the answer, requests what a model gets, judging what a judge and those from outside get, quotes
what is quoted of files, costs what the next step uses, words how it is said, forking how another council begins. run
makes the calls, commands has what the user can do.
panels are saved sets of participants, the journal keeps what was decided and what came of it. export is
a debate or a council as a document.
"""
