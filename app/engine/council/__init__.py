"""Councils, and votes and verdicts of debates: several models answer or argue,
and what they hold is compared.

Pure: director says which calls come next and how another council begins, record what the messages hold and
quote of files, outcome what follows from them, also in words, verdicts all that were given so far, requests
what models and judges get, earlier what earlier versions kept of a debate beside its messages. steps makes
each call, run a council's and debate_run a debate's with its turns; commands has what the user can do, and
what the next step uses. panels are saved sets of participants. export is a debate or a council as a document.
"""
