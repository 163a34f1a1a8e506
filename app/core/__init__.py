"""Plain data, and the protocols that connect the layers.

The conversation: message, turns (the tree of them), call_arguments, session, council, council_parts, verdict,
calibration, draft, pictures, files; events say what changes.
Definitions: agent, roles, workflow, saved_prompt, external_agents. The plugs: provider, store, tool, network. Providers and
models: catalog, presets, provider_kind, addresses, model_facts, local_models, usage. settings; approvals, server_secrets,
server_texts and stored_data. What users are told: errors, reasons, texts (the languages). Text: text, matching, forms, bare_links,
formula_marks, korean_emphasis; json_values; ids; owned_tasks. Imports nothing of Moot and nothing outside the standard
library, so that the window can be painted before anything heavy is loaded.
"""
