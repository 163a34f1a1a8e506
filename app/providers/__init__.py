"""Access to models. `remote` is the engine's plug, and the client of `model_host`, the child process that
asks providers; external agents are asked through `external_agents`, the client of `agent_host`, which runs
them.

`endpoints`: addresses, and time and size limits. `errors`: how an exception becomes a kind of failure.
`fact_book`: what is known about models. How long to wait before another try: engine/turns/context.py
(MIN_WAIT, MAX_WAIT). A new provider: core/catalog.py. `embedded_server`: the child program that runs a model
on this computer. `model_file`: the file of the one that comes with Moot. `local_models`: this one, downloaded
models and those from files of the user's, metered connections, servers such as Ollama; `model_fetch`: the
child program that downloads. `new_version`: whether there is a newer version of Moot.
"""
