"""Conversations with backends that remember nothing -> what each is told again, kept per team and agent."""
