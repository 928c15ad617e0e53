"""Reasoning by a model: the same questions, tables and checks as by rules; off until it is configured."""
