"""Plain data, and the protocols that connect the layers.

The conversation: message, turns (the tree of them, and closing what waits in one from a file), session (also
one in a list, its states and modes, and why it has its status), criteria, council (also who takes part,
verdicts, and how often a model has been right), council_parts, draft, schedule (also when one is due), files
(also pictures), session_files (which are made in it), memory (what assistants remember); events say what
changes. message also has forms, and what calls of models used. definitions: assistants and their roles,
groups, saved prompts, workflows. The
plugs: provider (also what is known about models, those on this computer, and the network), store (also
backups and the trash), tool (also the arguments of calls). catalog: providers, with what each can do, and
external agents. settings; skills; servers (their entries, and secrets in them). What users are told: errors,
texts (the languages, cleaning of text, finding by what is typed, and marks of Markdown). Also json_values;
ids; owned_tasks; frozen (the base of plain data). Imports nothing of Moot and nothing outside the standard
library, so that the window can be painted before anything heavy is loaded.
"""
