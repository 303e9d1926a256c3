"""Our strategies as an engine for others: by UBGI on stdin and stdout, and as gnubg's external player over TCP."""
