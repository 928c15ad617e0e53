"""Always-on memory for coding agents.

The installed hook imports this package on every call of the agent, so this file stays free of imports.
"""

__version__ = "0.1.0"
