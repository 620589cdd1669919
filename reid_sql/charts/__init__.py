"""What pictures show, before anything is drawn: words, values, order and looks, each said once.

`reid_sql.plot` draws them with its chart library, as figures to change and to save; `svg` draws them by our
own lines, as a report holds them. Nothing here needs a chart library.
"""
