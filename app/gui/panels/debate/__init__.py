"""The panel of debates: Setup, Discussion (with controls, verdict and buttons), History."""
