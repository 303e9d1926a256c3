"""Pages to read a studied match on, in any browser and without a network."""
