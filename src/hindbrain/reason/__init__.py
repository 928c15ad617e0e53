"""Turns -> memories: extract, derive, reflect, digest, dream; with a model, or without one."""
