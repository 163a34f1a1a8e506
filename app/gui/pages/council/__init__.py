"""The page of a council: who holds what, everybody's answer in a column, and what can be done next."""
