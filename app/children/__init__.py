"""The child processes of Moot: how they start, end with their parent, and speak lines over pipes."""
