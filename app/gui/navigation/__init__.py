"""The side bar and the top bar."""
