"""How sessions and messages look in a terminal."""
