"""condition_twin.py: the language of conditions in plain Python: random conditions, with as few or as many brackets,
blanks and quotes as their text may have, each with a function that says whether it holds. It shares nothing with
src/condition: what a condition means comes from how it was made, not from reading its text.

A record is a function of a field's name: None is a missing field, decimal.Decimal a number, str a text, Untyped a field
of CSV; anything else exists, and compares with nothing."""
import decimal
import json
import re

decimal.getcontext().prec = 5000
JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,15})?")
SIGNS = {"=": lambda c: c == 0, "==": lambda c: c == 0, "!=": lambda c: c != 0, "<": lambda c: c < 0,
         "<=": lambda c: c <= 0, ">": lambda c: c > 0, ">=": lambda c: c >= 0}
WORDS = ("and", "or", "not", "exists", "true", "false", "null", "+", "-", "*")
MAX_DIGITS = 1000
OR, AND, COMPARISON, SUM, PRODUCT, ATOM = range(6)  # how closely an expression binds


class Untyped(str):
    pass


def is_number(text):
    return len(text) <= MAX_DIGITS and JSON_NUMBER.fullmatch(text) is not None


def number_of(value):
    if isinstance(value, Untyped):
        return decimal.Decimal(value) if is_number(value) else None
    return value if isinstance(value, decimal.Decimal) else None


def digits(number):
    """The power of ten before the first digit that counts, and after the last one; None of zero."""
    if not number:
        return None
    number = number.normalize()
    return number.adjusted() + 1, number.as_tuple().exponent


def calculate(a, sign, b):
    """None if it takes more than MAX_DIGITS digits, one of them for what a sum may carry."""
    if a is None or b is None:
        return None
    of_a, of_b = digits(a), digits(b)
    if sign == "*":
        needs = sum(x[0] - x[1] for x in (of_a, of_b) if x)
    else:
        ends = [x for x in (of_a, of_b) if x]
        needs = max(x[0] for x in ends) - min(x[1] for x in ends) + 1 if ends else 1
    if needs > MAX_DIGITS:
        return None
    return a * b if sign == "*" else a + b if sign == "+" else a - b


def exists(value):
    return value is not None and not (isinstance(value, Untyped) and value == "")


class Maker:
    """Makes conditions on these fields with these values; `compared` are the fields with values to be compared."""

    def __init__(self, rng, fields, numbers, strings, compared=None):
        self.rng, self.fields, self.numbers, self.strings = rng, fields, numbers, strings
        self.compared = compared or fields

    def blank(self, needed=True):
        return self.rng.choice([" ", " ", "  ", "\t", "\n"]) if needed or self.rng.random() < 0.5 else ""

    def quoted(self, text):
        """In double quotes, or single ones, in which these are escaped and double ones need not be."""
        made = json.dumps(text, ensure_ascii=self.rng.random() < 0.5)
        if self.rng.random() < 0.2:
            made = '"' + "".join(f"\\u{ord(c):04X}" if c.isascii() else c for c in text) + '"'
        if self.rng.random() < 0.3:
            inner = made[1:-1].replace("'", "\\'")
            made = "'" + (inner.replace('\\"', '"') if "\\\\" not in inner and self.rng.random() < 0.5 else inner) + "'"
        return made

    def field(self, name):
        plain = name and not re.search(r"[\s()=!<>]|&&|\|\|", name) and name not in WORDS and name[0] not in "\"'" \
            and not is_number(name)
        return name if plain and self.rng.random() < 0.8 else self.quoted(name)

    def string(self, text):
        plain = text and not re.search(r"[\s()]|&&|\|\||^[=<>\"']|^!=", text) and text not in WORDS and \
            not is_number(text) and text.isprintable()
        return text if plain and self.rng.random() < 0.6 else self.quoted(text)

    def bracketed(self, text, level, needs):
        if level < needs or self.rng.random() < 0.1:
            return "(" + self.blank(False) + text + self.blank(False) + ")"
        return text

    def sum(self, depth, fields):
        """Its text, how closely it binds, its value of a record, and whether it has a field."""
        if depth == 0 or self.rng.random() < 0.4:
            if fields and self.rng.random() < 0.7:
                name = self.rng.choice(self.compared)
                return self.field(name), ATOM, lambda get: number_of(get(name)), True
            text = self.rng.choice(self.numbers)
            return text, ATOM, lambda get: decimal.Decimal(text), False
        sign = self.rng.choice("+-*")
        level = PRODUCT if sign == "*" else SUM
        a, level_a, value_a, has_a = self.sum(depth - 1, fields)
        b, level_b, value_b, has_b = self.sum(depth - 1, fields)
        text = self.bracketed(a, level_a, level) + self.blank() + sign + self.blank() + \
            self.bracketed(b, level_b, level + 1)
        return text, level, lambda get: calculate(value_a(get), sign, value_b(get)), has_a or has_b

    def comparison(self):
        name, sign = self.rng.choice(self.compared), self.rng.choice(list(SIGNS))
        between = self.blank(False) + sign + self.blank(False)
        if self.rng.random() < 0.4:
            want = self.rng.choice(self.strings)

            def holds(get):
                value = get(name)
                if not isinstance(value, str):
                    return False
                a, b = value.encode("utf-8", "surrogatepass"), want.encode("utf-8", "surrogatepass")
                return SIGNS[sign]((a > b) - (a < b))
            return self.field(name) + between + self.string(want), holds
        has = False
        while not has:
            left, _, value, has = self.sum(self.rng.choice([0, 0, 1, 2, 3]), True)
        right, _, limit, _ = self.sum(self.rng.choice([0, 0, 0, 1, 2]), False)

        def compares(get):
            a, b = value(get), limit(get)
            return a is not None and b is not None and SIGNS[sign]((a > b) - (a < b))
        return left + between + right, compares

    def condition(self, depth):
        """Its text, how closely it binds, and whether it holds for a record."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.3:
            if self.rng.random() < 0.2:
                name = self.rng.choice(self.fields)
                return self.field(name) + self.blank() + "exists", COMPARISON, lambda get: exists(get(name))
            text, holds = self.comparison()
            return text, COMPARISON, holds
        if kind < 0.5:
            text, level, holds = self.condition(depth - 1)
            text = self.bracketed(text, level, COMPARISON)
            return "not" + self.blank(not text.startswith("(")) + text, COMPARISON, lambda get: not holds(get)
        word, level = self.rng.choice([("and", AND), ("or", OR)])
        a, level_a, holds_a = self.condition(depth - 1)
        b, level_b, holds_b = self.condition(depth - 1)
        text = self.bracketed(a, level_a, level) + self.blank() + word + self.blank() + \
            self.bracketed(b, level_b, level + 1)
        if word == "and":
            return text, level, lambda get: holds_a(get) and holds_b(get)
        return text, level, lambda get: holds_a(get) or holds_b(get)
