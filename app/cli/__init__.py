"""The command line: it starts without Qt."""
