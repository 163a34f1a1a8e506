"""What model calls used and cost (usage_book), and estimates of what they will cost (estimates)."""
