"""Groups of assistants under an orchestrator: director says whose turn it is, commands takes it."""
