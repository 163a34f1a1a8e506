"""Controllers: they connect the requests of widgets to the engine."""
