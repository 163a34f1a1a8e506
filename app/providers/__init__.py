"""Access to models: `remote` is the engine's client of the model host, the child process in `model_host`.

`endpoints`: addresses, and time and size limits. `errors`: how an exception becomes a kind of failure.
How long to wait before another try: engine/turns/metered_models.py (MIN_WAIT, MAX_WAIT). A new provider: core/catalog.py.
`embedded_server`: the child program that runs a model on this computer. `built_in_model`, `model_file`: the one that comes with Moot.
`local_models`: downloaded models and those from files of the user's, with `model_fetch`, the child program that downloads, and
`gguf`, which reads the headers of model files. `local_servers`: finds Ollama and others.
"""
