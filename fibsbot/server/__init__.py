"""An embedded FIBS-compatible server."""
