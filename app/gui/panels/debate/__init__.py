"""The debate panel: Setup, Discussion, History."""
