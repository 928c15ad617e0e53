"""Memories -> Markdown a person reads and edits -> memories."""
