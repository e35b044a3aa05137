"""_learning.py: which characters of a rendered conversation training learns, and how much each counts.

A text is divided into pieces. Each belongs to one message. It is a part of the message (its content, its reasoning, its
tool calls), or template text between two of its parts, but not between two stretches of its content. If an answer
begins with reasoning or a tool call, the template text from the end of the generation prompt on belongs to it; if it
ends with a tool call, so does the template text up to the end of the turn. Where {% generation %} wrote a message, its
pieces are exactly that text. A message's own word decides if its pieces are learned; without one, the mode does. The
packer finds the tokens (chat_text.c).
"""
from __future__ import annotations

import itertools
import json
import operator
import os
import re
from typing import NamedTuple

from leat import _marked
from leat._marked import GENERATED, PARTS, SOURCES

OTHER, CONTENT, REASONING, TOOL_CALLS = range(PARTS)
MEMBERS = {"content": CONTENT, "reasoning_content": REASONING, "thinking": REASONING, "reasoning": REASONING,
           "tool_calls": TOOL_CALLS, "function_call": TOOL_CALLS}
MADE = 1 << REASONING | 1 << TOOL_CALLS  # the parts that an answer may have before its content
MAX_MESSAGES = (0x110000 // SOURCES - 1) // PARTS  # that marks can tell apart
SWITCHES, NUMBERS = ("train", "training", "loss", "loss_mask"), ("weight", "loss_scale")
CHOICES = {"learn": ("assistant", "last", "final", "all"), "learn_reasoning": ("yes", "no"),
           "learn_tool_calls": ("yes", "no"), "learn_end": ("all", "last", "no")}  # the first is the default
THOUGHT = re.compile(r".*</think>\s*", re.DOTALL)  # reasoning that stands in the content


class Wrong(ValueError):
    """A conversation, or an option, says what cannot be learned, and why."""


class Stretch(NamedTuple):
    """A stretch of characters of one message that are learned alike.

    `weight` is how much each character counts, from 0 to 1. `turn` is how much the token counts that ends the turn,
    or None if no turn ends here. That token follows the stretch, or with `within` lies in it."""
    begin: int
    end: int
    weight: float
    message: int
    turn: float | None
    within: bool


class Learning:
    """The options that say what is learned. `message_weight` names the member of messages that says how much each is
    learned; "none" means no member, None the usual ones. With `pairs`, the completion's messages are learned."""
    strict = True  # an answer that is to be learned must be shown

    def __init__(self, learn="assistant", learn_reasoning="yes", learn_tool_calls="yes", learn_end="all",
                 message_weight=None, pairs=False):
        given = dict(learn=learn, learn_reasoning=learn_reasoning, learn_tool_calls=learn_tool_calls,
                     learn_end=learn_end)
        for name, value in given.items():
            if value not in CHOICES[name]:
                raise Wrong(f"{name} must be {', '.join(CHOICES[name][:-1])} or {CHOICES[name][-1]}, not {value!r}")
        self.mode, self.end, self.pairs = learn, learn_end, bool(pairs)
        self.names = () if message_weight == "none" else (message_weight,) if message_weight else SWITCHES + NUMBERS
        final = learn == "final"
        learned = {CONTENT: True, OTHER: learn == "all", REASONING: learn_reasoning == "yes" and not final,
                   TOOL_CALLS: learn_tool_calls == "yes" and not final}
        self.unlearned = sum(1 << part for part in learned if not learned[part])

    @classmethod
    def of_lines(cls, lines):
        """Reads the options from the packer's lines. A choice is written as its number, a line feed as \\n, and a
        backslash as \\\\."""
        plain = {"\\n": "\n", "\\\\": "\\"}
        given = dict(re.sub(r"\\.", lambda found: plain[found[0]], line).split(" ", 1)
                     for line in lines.split("\n") if line)
        return cls(**{name: dict(enumerate(CHOICES[name])).get(int(value), value) if name in CHOICES else value
                      for name, value in given.items()})

    def word(self, number, message):
        """Returns the weight that a message gives itself, or None if it gives none."""
        word = None
        for name in self.names:
            value = message.get(name)
            if value is None:
                continue
            if not isinstance(value, (bool, int, float)) or not 0 <= value <= 1 or (name in SWITCHES and value % 1):
                raise Wrong(f"message {number} of the conversation has {name} {json.dumps(value)[:60]}, which "
                            f"is neither true nor false{'' if name in SWITCHES else ', nor a number from 0 to 1'}")
            word = value if word is None else word * value
        return word

    def choose(self, turns, messages, text, runs, completion=0):
        """Returns the stretches of a text that are learned, in order; `runs` are those of its marks. In mode "all" they
        cover the whole text. The completion of a pair begins with message number `completion`."""
        pieces, generated = _pieces(turns, messages, text, runs)
        answers = range(completion, len(messages)) if self.pairs else sorted(generated) if turns.has_generation else [
            number for number, message in enumerate(messages) if message.get("role") == "assistant"]
        weights, last = self._weights(messages, answers)
        if self.strict:
            self._check_shown(messages, weights, pieces)
        learned = [[begin, end, message, not parts & self.unlearned, message in generated]
                   for begin, end, message, parts in pieces]
        if self.mode == "final":
            thought = max((n for n, (_, _, message, parts) in enumerate(pieces)
                           if message == last and parts & MADE), default=-1)
            for piece in learned[:thought + 1]:
                piece[3] &= piece[2] != last
        if self.mode == "all":
            learned = _covering(learned, len(text))
        return self._stretches(learned, weights)

    def _weights(self, messages, answers):
        """Returns the weight of each message, and the number of the last answer."""
        last = answers[-1] if answers else None
        chosen = {"assistant": set(answers), "all": range(len(messages))}.get(self.mode, answers[-1:])
        words = [self.word(number, message) for number, message in enumerate(messages)]
        weights = [(number in chosen) * 1.0 if word is None else word for number, word in enumerate(words)]
        return weights, last

    def _check_shown(self, messages, weights, pieces):
        """Refuses an answer that is to be learned and of which the template shows nothing."""
        shown = {message for _, _, message, parts in pieces if parts & 1 << CONTENT}
        for number, message in enumerate(messages):
            if weights[number] and number not in shown and message.get("role") == "assistant" and _says(message):
                raise Wrong(f"message {number} of the conversation is to be learned, and the chat template shows "
                            "nothing of its content")

    def _stretches(self, pieces, weights):
        out = []
        for message, mine in itertools.groupby(pieces, operator.itemgetter(2)):
            weight, start = float(weights[message]), None
            mine = list(mine) if weight or self.mode == "all" else []
            counts = weight > 0 and any([piece[3] for piece in mine])
            if not counts and self.mode != "all":
                continue
            turn = weight if counts and self.end != "no" else 0.0
            for (begin, end, _, learned, within), after in zip(mine, [*mine[1:], None]):
                start, goes_on = begin if start is None else start, after and after[0] == end
                if not goes_on or (weight and after[3] != learned):
                    turn_here = None if goes_on else turn
                    out.append(Stretch(start, end, weight if learned else 0.0, message, turn_here, within))
                    start = None
        turns = [n for n, stretch in enumerate(out) if stretch.turn]
        for n in turns[:-1] if self.end == "last" else ():
            out[n] = out[n]._replace(turn=0.0)
        return out


def shown(number, name, value, answer):
    """Returns a member of a message with marks, as the template gets it. `answer`: it is an assistant's message."""
    part = MEMBERS.get(name, OTHER)
    source = 1 + PARTS * number + part
    if not answer or part != CONTENT:
        return _marked.marked(value, source, answer and part != OTHER)
    thoughts = source - CONTENT + REASONING
    if isinstance(value, list):
        kinds = [item.get("type") if isinstance(item, dict) else None for item in value]
        return [_marked.marked(item, thoughts if kind in ("thinking", "reasoning") else source, True)
                for item, kind in zip(value, kinds)]
    thought = THOUGHT.match(value) if isinstance(value, str) and "</think>" in value else None
    if not thought:
        return _marked.marked(value, source, True)
    at = thought.end()
    return _marked.marked(value[:at], thoughts) + _marked.marked(value[at:], source)


def _says(message):
    """Returns true if an answer's content has more than reasoning and white space."""
    content = message.get("content")
    texts = content if isinstance(content, list) else [content]
    texts = [item.get("text") if isinstance(item, dict) else item for item in texts]
    return any(text.rpartition("</think>")[2].strip() for text in texts if isinstance(text, str))


# ---- Pieces ----------------------------------------------------------------------------------------------------------

def _pieces(turns, messages, text, runs):
    """Returns the pieces in order, and the messages that {% generation %} wrote. A piece is (begin, end, message,
    parts); `parts` has a bit for each part that it is, or lies between."""
    text, runs = str.__str__(text), [run for run in runs if run[2]]
    owned = _generated(runs, messages, text)
    generated, known = {piece[2] for piece in owned}, []
    for begin, end, mark in runs:
        message, parts = _owner(mark)
        known.append((begin, end, None if mark & GENERATED or message in generated else message, parts))
    return sorted(owned + _joined(turns, messages, text, known)), generated


def _owner(mark):
    """Returns the message and the part that a mark names; the message is None if it names none."""
    source = mark // SOURCES - 1
    return (None, 0) if source < 0 else (source // PARTS, 1 << source % PARTS)


def _generated(runs, messages, text):
    """Returns the pieces of the text in {% generation %} blocks. The template's own text in a block belongs to the
    message before it in that block, or else to the message after it; in a block without one, to the next answer."""
    out, span = [], []
    for begin, end, mark in [*runs, (0, 0, 0)]:
        if span and (not mark & GENERATED or span[-1][1] != begin):
            out += _of_span(span, out[-1][2] if out else -1, messages, text)
            span = []
        if mark & GENERATED:
            message, parts = _owner(mark)
            span.append((begin, end, message, 1 << CONTENT if parts == 1 << OTHER else parts))
    return out


def _of_span(span, before, messages, text):
    answers = (n for n in range(before + 1, len(messages)) if messages[n].get("role") == "assistant")
    next_answer = 0, 0, next(answers, max(before, 0)), 1 << CONTENT
    rights, left, out = [None], None, []
    for piece in span[:0:-1]:
        rights.append(piece if piece[2] is not None else rights[-1])
    for begin, end, message, parts in span:
        right = rights.pop()
        if message is not None:
            left = begin, end, message, parts
            out.append(left)
        elif left and right and left[2] == right[2]:
            out += _between(left, right, text, begin, end)
        else:
            out.append((begin, end, *(left or right or next_answer)[2:]))
    return out


def _between(left, right, text, begin, end):
    """Returns the pieces of the template's text between two pieces of one message. Text that closes reasoning counts as
    reasoning."""
    thought = THOUGHT.match(text, begin, end) if left[3] == 1 << REASONING else None
    at, parts = (thought.end(), right[3]) if thought else (begin, left[3] | right[3])
    return [(begin, at, *left[2:])] * (begin < at) + [(at, end, left[2], parts)] * (at < end)


def _joined(turns, messages, text, known):
    """Returns the pieces of messages, joined with template text that belongs to them: text between pieces of one
    message, before an answer that begins with reasoning or a tool call, and after an answer that ends with one. `known`
    has all pieces that are not the template's."""
    out = []
    for left, right in zip([(0, 0, None, 0), *known], [*known, (len(text), len(text), None, 0)]):
        at, end = left[1], right[0]
        if at == end:
            pass
        elif left[2] == right[2] is not None:
            out += _between(left, right, text, at, end) if left[3] | right[3] != 1 << CONTENT else []
        else:
            if _is_answer(messages, left) and (closes := turns.closes()):
                after = text.find(closes, at, end)
                if after > at:
                    out.append((at, after, *left[2:]))
                    at = after
            begin = turns.answer_begins(text, at, end) if _is_answer(messages, right) else end
            out += [(begin, end, *right[2:])] * (begin < end)
        if right[2] is not None:
            out.append(right)
    return out


def _is_answer(messages, piece):
    """Returns true if the piece is reasoning or a tool call of an answer."""
    return piece[3] & MADE and piece[2] is not None and messages[piece[2]].get("role") == "assistant"


def _covering(pieces, length):
    """Returns pieces that cover the whole text. Text between two pieces belongs to the next message; text at the end,
    with the token that ends the turn, belongs to the last message."""
    out, at = [], 0
    for begin, end, message, learned, within in pieces:
        if begin > at:
            out.append([at, begin, message, True, within])
        out.append([begin, end, message, learned, within])
        at = end
    if at < length:
        out.append([at, length, out[-1][2] if out else 0, True, True])
    return out


# ---- What a template writes around answers ---------------------------------------------------------------------------

class Turns:
    """Finds out what a template writes before and after an answer, by rendering small conversations when first asked.
    If the template refuses these conversations, nothing is known."""
    USER, ANSWER = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}

    def __init__(self, template, variables):
        self._template, self._variables, self.has_generation = template, variables, template.has_generation
        self._prompts = self._closes = None

    def _try(self, *messages, **variables):
        try:
            return self._template.render(messages, **{**self._variables, **variables})
        except MemoryError:
            raise
        except Exception:  # whatever a template raises
            return None

    def answer_begins(self, text, begin, end):
        """Returns where the generation prompt, or what the template writes before the content of an answer, ends in a
        stretch of template text, or `end` if neither is there. (DeepSeek's prompt opens a think block, and the turns of
        its conversations have none.)"""
        if self._prompts is None:
            modes = {}, {"enable_thinking": False}, {"thinking": False}
            self._prompts = {prompt for more in modes for prompt in self._headers(**more)}
            self._prompts |= {prompt.rstrip() for prompt in self._prompts}
        found = [(text.rfind(prompt, begin, end), prompt) for prompt in self._prompts if prompt]
        return max((at + len(prompt) for at, prompt in found if at >= 0), default=end)

    def _headers(self, **more):
        """Returns the generation prompt, and what the template writes before an answer; each "" if it is not known."""
        asked, plain = self._try(self.USER, add_generation_prompt=True, **more), self._try(self.USER, **more)
        both = self._try(self.USER, self.ANSWER, **more)
        known = asked is not None and plain is not None and asked.startswith(plain)
        prompt = str.__str__(asked)[len(plain):] if known else ""
        written = _after_content(both, 0).removesuffix("b" + _after_content(both, 1)) if both else ""
        return prompt.lstrip(), written.lstrip()

    def closes(self):
        """Returns the text that ends a turn after its answer, or "" if it is not known."""
        if self._closes is None:
            texts = self._try(self.USER, self.ANSWER), self._try(self.USER, self.ANSWER, self.USER)
            after = [_after_content(text, 1) for text in texts if text is not None]
            common = os.path.commonprefix(after).strip()
            self._closes = common if after and common == after[0].strip() else ""
        return self._closes


def _after_content(text, message):
    """Returns the text that follows the content of a message."""
    source = 1 + PARTS * message + CONTENT
    marks = _marked.marks_of(text)
    return str.__str__(text)[max((n + 1 for n, mark in enumerate(marks) if ord(mark) // SOURCES == source), default=0):]
