"""The model host: a child process that alone imports LiteLLM and speaks to the providers.

JSON lines over its pipes. In: `{"id", "op": "stream" | "test" | "list" | "cancel", …}`, `{"op": "warm", …}`. Out:
`{"ready"}`, `{"warm"}`, `{"id", "text", "thinking", "calls"}` (calls are `[number, id, name, arguments]`,
later than the words of their line), then one of `{"id", "finished"}`, `{"id", "tested"}`, `{"id", "error"}`.
"""
