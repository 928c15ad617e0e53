"""An agent's settings file -> the same file with Hindbrain's hooks in it, and back to what it was."""
