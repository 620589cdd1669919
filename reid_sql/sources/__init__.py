"""Tables that people have: files, files of a pattern, remote objects and warehouses, read unchanged."""
