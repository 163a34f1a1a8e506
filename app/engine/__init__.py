"""What sessions do; knows the types of `core`, and neither screens nor disks nor networks.

engine is the facade for the faces, with a part for each topic: sessions, providers, connections (also local
models), servers, drafts, stored data, permissions (what runs without a question), work (all sessions that
run, wait or need the user, as rows, and what a question is about), and those in the packages. prompts are the
texts that go to models, names the labels of participants and how text is searched for them. live_session is a
session in memory, runner the loop of a session that runs, director the decisions a session's director can
make, session_kinds what differs between the kinds, and a session as a document, scores how right models have
been, usage_book what model calls used and cost and the month's limit, voting which models may vote and judge.
The loop of one turn is in the package turns, its waiting in availability. memory is what assistants remember,
schedules what runs by itself when it is due.
request is what a model gets of the turns (core/turns), what the request is held to, how an assistant is to
answer, what a provider's cache may keep, and the hand-overs of a group; history what of files and of a long
conversation it gets, and how many tokens that is. importing reads the exports of other programs.
"""
