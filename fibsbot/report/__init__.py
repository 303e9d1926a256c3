"""Reports: analysed matches as HTML pages for any browser, without a network."""
