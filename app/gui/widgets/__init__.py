"""Small widgets used in several places."""
