"""Reads the exports of other programs, one format in each file; pure.

`chatgpt`, `claude`, `lobe_chat`, `open_webui`; `foreign` has what they share. `sessions` makes sessions of them, and of
Moot's own exports.
"""
