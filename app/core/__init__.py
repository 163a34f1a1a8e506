"""The nouns: plain data and the protocols that connect the layers.

Imports nothing of Moot and nothing outside the standard library, so that the window can be
painted before anything heavy is loaded.
"""
