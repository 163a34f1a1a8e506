"""The model host: a child process that alone imports LiteLLM and speaks to the providers.

JSON lines over its pipes. In: `{"id", "op": "stream" | "test", …}`, `{"op": "cancel", "id"}`,
`{"op": "warm", …}`. Out: `{"ready"}`, `{"warm"}`, `{"id", "text", "thinking"}`, then one of
`{"id", "finished"}`, `{"id", "tested"}`, `{"id", "error"}`.
"""
