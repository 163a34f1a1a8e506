"""Around the main area: the side bar with its lists, the top bar, and the list of questions that wait for the user."""
