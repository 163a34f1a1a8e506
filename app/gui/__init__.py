"""The window. Widgets draw facts and emit requests; they hold no session state and await nothing."""
