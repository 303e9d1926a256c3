"""The rules core: short plain Python that a backgammon player can read beside the laws."""
