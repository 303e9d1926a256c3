"""Who decides: the interface, the strategies that come along, and those that plug-ins install."""
