"""Reports: analysed matches as HTML pages for any browser, without a network.

The modules:

    page.py          a page of matches, and an index of pages
    links.py         the decision at a link of a page
    timeline.py      the entries of a match, with grades and kinds
    page_data.py     what the script of a page shows of an entry
    score_sheet.py   the score sheet
    totals.py        totals of players over several matches, and the worst errors of all
    skill_figures.py levels, ratings and errors with the cube, for pages and for `analyse`
    statistics.py    the statistics and charts of a match
"""
