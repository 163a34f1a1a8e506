"""The model host: the child process that alone imports LiteLLM and talks to the providers, in JSON lines.

In: `{"id", "op", …}` with the operations of `host`: stream, test, list, price, facts, window, warm, unload,
cancel. Out: `{"ready"}`, `{"warm"}`; pieces `{"id", "text", "thinking", "calls"}` (`calls` are `[number, id,
name, arguments]` and follow the line's text), `{"id", "images"}`, `{"id", "quirks"}`; and as the last line of
a request one of `{"id", "finished"}`, `{"id", "tested"}`, `{"id", "price"}`, `{"id", "facts"}`, `{"id",
"window"}`, `{"id", "unloaded"}`, `{"id", "error"}`. A call: `request` (what is sent: messages, effort,
quirks, marks for the cache); `answer` asks, sends the pieces and keeps state and sources, `tool_schemas`
makes tools legal, `http_limits` guards and mends what comes, `litellm_fixes` corrects LiteLLM. About models:
`facts` (also prices and windows). `host` also has the Test button, and runs models on this computer.
"""
