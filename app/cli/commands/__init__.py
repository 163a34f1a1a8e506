"""The sub-commands, one module for each topic."""
