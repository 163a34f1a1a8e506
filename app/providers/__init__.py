"""Access to models. `all_models` is the engine's plug: providers through `remote`, external agents through `external_agents`.

`remote`: the client of the model host, the child process in `model_host`. `agent_host`: the child process that runs
external agents. `pieces`: the lines of an answer.
`endpoints`: addresses, and time and size limits. `errors`: how an exception becomes a kind of failure. `fact_book`: what
is known about models. How long to wait before another
try: engine/turns/metered_models.py (MIN_WAIT, MAX_WAIT). A new provider: core/catalog.py.
`embedded_server`: the child program that runs a model on this computer. `built_in_model`, `model_file`: the one that
comes with Moot. `local_models`: downloaded models and those from files of the user's, metered connections, servers such
as Ollama; `model_fetch`: the child program that downloads.
"""
