"""How things look and read: theme, style, icons, texts and amounts."""
