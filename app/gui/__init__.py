"""The window. main_window holds its life, window_frame its widgets, controllers/window connects both
to the engine.

Widgets show facts and start commands of the engine by Tasks; they hold no session state. commands is the
table of commands, bridge turns the engine's events into signals, tasks runs the window's coroutines.
quick_window is the small window of the quick chat.
"""
