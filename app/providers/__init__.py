"""Access to models: `remote` is the engine's client of the model host, the child process in `model_host`.

`endpoints`: addresses, and time and size limits. `errors`: how an exception becomes a kind of failure.
How long to wait before another try: engine/turns/metered_models.py (MIN_WAIT, MAX_WAIT). A new provider: core/catalog.py.
`embedded_server`, `model_file`: the built-in model's process and file. `local_servers`: finds Ollama and others.
"""
