"""The tests; one file per module of `app`, in the same folders."""
