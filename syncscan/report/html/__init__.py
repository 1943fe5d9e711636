"""Reports as one self-contained HTML file.

The page is a plain template, a style and a script. The report is data that the script draws, because a browser
cannot draw 100,000 sites at once. So no template engine is needed. Text of others reaches the page in one way, as JSON of
which the script makes text nodes.
"""
