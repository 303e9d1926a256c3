"""The agent that plays: a pure function from events to actions, and what drives it live."""
