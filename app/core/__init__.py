"""Plain data, and the protocols that connect the layers.

The conversation: message, turns (the tree of them), call_arguments, session, summary (of one, with its
states and modes), criteria, council (also who takes part), council_parts, verdict
(also how often a model has been right), draft, pictures, files, session_files (which are made in it); events say what changes. Definitions: agent,
roles, workflow, saved_prompt, external_agents. The plugs: provider (also models on this computer), store,
tool, network. Providers and models: catalog (with what each provider can do), model_facts,
usage. settings; approvals, server_secrets, server_texts and stored_data. What users are told: errors,
reasons, texts (the languages, and cleaning of text). Text: matching, forms, markdown_marks; json_values; ids;
owned_tasks. Imports nothing of Moot and nothing outside the standard library, so that the window can be
painted before anything heavy is loaded.
"""
