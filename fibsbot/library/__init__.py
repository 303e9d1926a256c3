"""The library's front door: what `import fibsbot` offers.

    board.py        `Board`: a game at a moment, of any ruleset
    evaluations.py  `evaluate`, `rank`, `cube`, `rollout`
    matches.py      `Match`, `read`, `write`, `analyse`
    pictures.py     `draw`: a board as SVG
    json_values.py  results as JSON, and back
    hints.py        what an error says about a name that other libraries have
    printed.py      results as columns, in text and HTML

See docs/reference/library.md. What these are made of can be imported from its own module.
"""
