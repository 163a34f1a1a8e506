"""The model host: the child process that alone imports LiteLLM and talks to the providers, in JSON lines.

In: `{"id", "op", …}` with the operations of `host`: stream, test, list, price, facts, window, warm, unload, cancel.
Out: `{"ready"}`, `{"warm"}`; pieces `{"id", "text", "thinking", "calls"}` (`calls` are `[number, id, name, arguments]`
and follow the line's text), `{"id", "images"}`, `{"id", "quirks"}`; and as the last line of a request one of
`{"id", "finished"}`, `{"id", "tested"}`, `{"id", "price"}`, `{"id", "facts"}`, `{"id", "window"}`, `{"id", "unloaded"}`,
`{"id", "error"}`.
A call: `request` and `messages` (what is sent), with `effort`, `cache_marks` and `quirks`; `answer` asks, `deltas` sends
the pieces, `beside` keeps state and sources, `tool_schemas` makes tools legal, `answer_bodies` and `http_limits` guard what comes, `litellm_fixes` corrects LiteLLM. About models: `facts`,
`told_facts`, `prices`, `running_window`; `trial` is the Test button, `llama_servers` runs models on this computer.
"""
