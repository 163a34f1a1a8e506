"""Plain data, and the protocols that connect the layers.

The conversation: message, turns (the tree of them), session (also one in a list, its states and modes, and
why it has its status), criteria, council (also who takes part, verdicts, and how often a model has been
right), council_parts, draft, pictures, files, session_files (which are made in it); events say what changes.
definitions: assistants and their roles, groups, saved prompts, workflows; external_agents. The plugs:
provider (also models on this computer, and the network), store (also backups and the trash), tool (also the
arguments of calls). Providers and models: catalog (with what each provider can do), model_facts, usage.
settings; approvals; servers (their entries, and secrets in them). What users are told: errors, texts (the
languages, cleaning of text, and finding by what is typed). Text: forms, markdown_marks; json_values; ids;
owned_tasks. Imports nothing of Moot and nothing outside the standard library, so that the window can be
painted before anything heavy is loaded.
"""
