"""Documents as values, and what renders them as Markdown, in a terminal and as HTML."""
