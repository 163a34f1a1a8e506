"""The model host: the child process that alone imports LiteLLM and talks to the providers, in JSON lines.

In: `{"id", "op": "stream" | "test" | "list" | "price" | "warm" | "cancel", …}`. Out: `{"ready"}`, `{"warm"}`,
`{"id", "text", "thinking", "calls"}` (`calls` are `[number, id, name, arguments]` and follow the line's text), then
one of `{"id", "finished"}`, `{"id", "tested"}`, `{"id", "price"}`, `{"id", "error"}`.
"""
