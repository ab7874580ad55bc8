"""The correctness report: an index, a file of data for each family and part, and Markdown.

Rule of this folder: a page is made of blocks (blocks.py), which two renderers know: a script of
the browser (reports/web/blocks.js) and markdown.py.  No other file has HTML or Markdown.

| file | content |
|---|---|
| blocks.py | the kinds of content: sections, tables, pictures |
| encoding.py | blocks as JSON for the scripts |
| markdown.py | blocks as Markdown |
| formats.py | numbers, times and links in words |
| ranking.py | findings, in order, a sentence each |
| thumbnails.py | a small picture of a run |
| surprises.py | results that are not as expected |
| index.py | the first screen |
| family.py, variant.py | a family, and a variant in its panel |
| parts/ | the other parts, each with an address of its own |
| changes.py | changes since a kept report |
| shell.py | the page around the data, with its scripts and styles |
| writing.py | all files of a report |
"""

from reports.page.parts.costs import pictures
from reports.page.parts.proofs import lemmas
from reports.page.writing import write

__all__ = ["lemmas", "pictures", "write"]
