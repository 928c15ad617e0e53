"""Question -> ranked turns and memories -> a budgeted, fenced block. No model needed."""
