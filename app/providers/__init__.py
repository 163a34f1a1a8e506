"""The plug to models: a child process that speaks to providers, and its client."""
