#!/usr/bin/env python3
"""test_chat_marks.py: which characters of a rendered conversation are learned, where a template makes them of an
answer: what takes the place of an answer's characters, and what is put between two of them, is learned; what is put
between an answer and something else is not. (Formerly replace, join and tojson left holes in an answer's mask, and
numbers in answers were never learned; format() of a template's text counted as the answer's, in a loop that had set a
variable to that.)"""
from chat_reference import Rendered

USER, ANSWER = "u\nv", "Γ\nΔ"


def learned(template, content=ANSWER):
    """The text, and the learned part of it."""
    messages = [{"role": "user", "content": USER}, {"role": "assistant", "content": content}]
    text, marks = Rendered("{% set a = messages[1].content %}" + template)(messages)
    return text, bytes(b for b, on in zip(text.encode(), marks) if on).decode()


for template, content in (
        ("{{ a | replace('\\n', ' - ') }}", ANSWER), ("{{ a.replace('\\n', '<br>') }}", ANSWER),
        ("{{ a | replace('', '.') }}", ANSWER), ("{{ a.split('\\n') | join('+') }}", ANSWER),
        ("{{ '+'.join(a.split('\\n')) }}", "\n\nΓ\n\nΔ\n"), ("{{ a.splitlines() | join(' / ') }}", ANSWER),
        ("{{ a | indent(2) }}", ANSWER), ("{{ a | indent(2, first=true) }}", ANSWER), ("{{ a | tojson }}", ANSWER),
        ("{{ a | tojson(indent=1) }}", [{"type": "text", "text": "Γ", "n": 1, "e": "", "l": [[], None, 0.5]}]),
        ("{{ a | map(attribute='text') | join('\\n') }}", [{"text": "Γ"}, {"text": "Δ"}]), ("{{ a }}", 5),
        ("{{ a }}", 0.5),
        ("{{ a + 1 }}", 5), ("{{ 2 - a }}", 5), ("{{ a // 2 }}", 5), ("{{ a / 2 }}", 5), ("{{ a * 0.5 }}", 5),
        ("{{ -a }}", 5), ("{{ -a }}", 0.5), ("{{ +a }}", 5), ("{{ a | abs }}", -5), ("{{ a | abs }}", -0.5),
        ("{{ a | int }}", 2.5), ("{{ a | int }}", " 12 "), ("{{ a | float }}", 5), ("{{ a | float }}", "12"),
        ("{{ [1, a] | sum }}", 5),
        ("{{ a }}", 10**30),
        ("{{ a | tojson }}", {"n": [1, True, None]}), ("{{ a | upper | lower | e }}", "a<b\nc"), ("{{ a[::-1] }}",
        ANSWER)):
    text, part = learned(template, content)
    assert text == part, (template, text, part)

for template, want in (("{{ [messages[0].content, a] | join(' + ') }}", ANSWER), ("{{ 'x' ~ a + 'y' }}", ANSWER),
                       ("{{ (messages[0].content + a) | replace('v', 'w') }}", ANSWER),
    ("{{ (messages[0].content + '|' + a) | replace('|', '') | replace('', '.') }}", ".Γ.\n.Δ."[1:]),
                       ("{{ messages | tojson }}", "Γ\\nΔ".join('""')),
                       ("{{ messages | map(attribute='content') | join }}",
                                                                         ANSWER),
                       ("{{ messages[0].content | replace('u', 'Γ') }}", ""), ("{{ a | length }}", ""),
                       ("{{ messages[0].content | length + 1 }}", ""),
                       ("{% for m in messages %}{% set c = a %}{{ '{}y'.format('x') }}{% endfor %}", ""),
                       ("{% set ns = namespace() %}{% generation %}{% set ns.x %}foo{% endset %}{% set y %}bar"
                        "{% endset %}{{ y }}{% endgeneration %}{{ ns.x }}|", "bar")):
    text, part = learned(template)
    assert part == want, (template, text, part, want)
