"""The windows over the window."""
