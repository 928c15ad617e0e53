"""Journal lines -> sessions, turns, memories and links, in one database."""
