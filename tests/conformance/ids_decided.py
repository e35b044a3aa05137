"""ids_decided.py: where leat decides otherwise than a reference, on purpose. check_ids.py leaves these things out of
its random comparison, prints them by name, and tries the smallest example of each: once either side answers otherwise,
this list is wrong, and the check fails."""


class Decision:
    """A model of sentencepiece that is trained with `options`, ids, and what they decode to there and here."""

    def __init__(self, name, options, ids, theirs, mine):
        self.name, self.options, self.ids, self.theirs, self.mine = name, options, ids, theirs, mine


# Control pieces decode to nothing in sentencepiece, to their names in leat (leat_pack.h): the text of a dataset must
# show where its documents begin and end, as it does with every other kind of tokenizer. What follows one is inside the
# text, so that the space that its mark stands for is not taken away as at the beginning.
CONTROL = dict(control_symbols=["<c>"], user_defined_symbols=["\u2581a"])
DECISIONS = (
    Decision("decided: a control piece decodes to its name", CONTROL, [2], "", "</s>"),
    Decision("decided: a control piece that the trainer was given", CONTROL, [3], "", "<c>"),
    Decision("decided: the space after a control piece", CONTROL, [1, 4], "a", "<s> a"),
    Decision("decided: control pieces between others", CONTROL, [4, 3, 4, 2], "a a", "a<c> a</s>"),
)
# Two pieces of one name, which sentencepiece could not tell apart in decoding (it goes by names), are no such case: it
# refuses the file, and so does leat.
