"""Engines as child processes: starting and restarting them, and the lines that are exchanged with them.

The modules:

    engine_process.py starts, asks and restarts an engine
    launcher.py       runs between us and the engine, and ends it when we end
    wire_format.py    positions and plays as text, and strategies that ask so
"""
