"""Records of past play: session logs and the match store."""
