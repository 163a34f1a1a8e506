"""What model calls used and cost, and estimates of what they will cost."""
