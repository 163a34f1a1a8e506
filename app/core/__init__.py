"""Plain data, and the protocols that connect the layers.

message and session are the conversation, agent and workflow the definitions, events what changes. provider, tool and
store are the plugs; errors, reasons and texts what users are told. Imports nothing of Moot and nothing outside the
standard library, so that the window can be painted before anything heavy is loaded.
"""
