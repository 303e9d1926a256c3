"""Pictures of boards and charts, as SVG and as text.

Boards of every game:

    scene.py            what a board shows
    caption.py          what it says in words
    sentences.py        who has to do what, and what a drawing leaves out
    board_text.py       the board as text
    coloured_board.py   its colours in a terminal
    svg.py              the board as a picture
    layout.py           where everything is in it
    arrows.py           the arrows of a play

Charts and tables:

    plot.py             curves and bars
    axes.py             axes and ticks
    plot_text.py        curves in a terminal
    score_table.py      a decision at many scores, as a table

The rest:

    themes.py           colours
    markup.py           escaped text, coordinates, the SVG document
    html.py             elements of HTML, with escaping
    rules_text.py       the rules of a game as a page
    backgammon_rules.py the text of those of backgammon
"""
