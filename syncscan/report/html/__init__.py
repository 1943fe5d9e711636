"""Reports as one self-contained HTML file.

The page is a plain template, a style and a script, and the report is data that the script draws: a browser
shows 100,000 places only if it need not draw them. So nothing is left for a template engine to do, and text of others
reaches the page in one way, as JSON of which the script makes text nodes.
"""
