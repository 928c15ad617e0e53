"""Event -> one durable, checksummed line on disk -> the same line read back."""
