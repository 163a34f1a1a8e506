"""The window. main_window holds its life, window_frame its widgets, controllers/window connects both to the engine.

Widgets show data and emit requests; they hold no session state and await nothing. commands is the table of commands,
bridge turns the engine's events into signals, tasks runs the window's coroutines. quick_window is the small window of the
quick chat.
"""
