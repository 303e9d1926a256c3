"""Pictures of boards and charts, as SVG and as text.

Boards of backgammon, and as far as `table_` says of other games:

    scene.py            what a picture shows
    layout.py           where it is
    svg.py              the picture
    arrows.py           the arrows of a play
    board_text.py       the board as text, and sentences about it
    coloured_board.py   its colours in a terminal
    table_svg.py        the picture of another game
    table_text.py       its board as text

Charts:

    plot.py             curves and bars
    axes.py             axes and ticks
    plot_text.py        curves in a terminal

The rest:

    themes.py           colours
    markup.py           escaped text, coordinates, the SVG document
    rules_text.py       the rules of a game as a page
    backgammon_rules.py the text of those of backgammon
"""
