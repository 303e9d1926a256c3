"""The commands by which people ask the engine: what a position is worth, which play, what to do with the cube."""
