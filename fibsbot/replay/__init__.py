"""Replays what was logged or captured: bytes to messages to the agent's own tracking to transcripts."""
