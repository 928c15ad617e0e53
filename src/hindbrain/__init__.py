"""Always-on memory for coding agents.

The installed hook imports this package on every call of the agent, so this file stays free of imports; the library is
loaded when one of its names is asked for.
"""

__version__ = "0.1.0"
__all__ = ["Block", "Hit", "Memory", "__version__"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hindbrain.serve.memory import Block, Hit, Memory


def __getattr__(name: str) -> object:
    if name in ("Block", "Hit", "Memory"):
        from hindbrain.serve import memory

        return getattr(memory, name)
    raise AttributeError(f"module 'hindbrain' has no attribute {name!r}")
