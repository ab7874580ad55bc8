"""The words of docs/reference/model.md on windows, engines, operators, merges and guarantees.

Rule of this folder: a definition stands below the sentence that it repeats, looks at whole words,
and shares no code with the model but the values that describe events, windows, patterns and graphs.
The tests compare the model with the definitions over all small words.
"""
