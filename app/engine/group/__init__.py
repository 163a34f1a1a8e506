"""Groups of assistants under an orchestrator."""
