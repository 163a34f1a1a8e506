"""Groups of assistants under an orchestrator: director says whose turn it is, run takes it; commands."""
