"""The extension for notebooks."""
