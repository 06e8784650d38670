"""Nothing of it itself."""
