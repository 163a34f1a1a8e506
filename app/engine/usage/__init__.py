"""What model calls used and cost (usage_book)."""
