"""Charts: the content of each, drawn as SVG in reports and by matplotlib in figures."""
