"""Stories: the program as its users start it, in processes of its own, against local servers."""
