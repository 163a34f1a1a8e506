"""What "done" means: checking asks a model whether criteria are met and looks its quotations up; commands."""
