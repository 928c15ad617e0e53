"""What Hindbrain shows in a browser: on this machine, to who started it, for reading."""
