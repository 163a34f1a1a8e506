"""Debates: who speaks next, the run, ballots and the verdict."""
