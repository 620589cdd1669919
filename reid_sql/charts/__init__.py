"""Charts: the content of each, drawn as SVG in reports, files and notebooks."""
