"""Near-duplicate detection for text."""

from neardups._native import __version__

__all__ = ["__version__"]
