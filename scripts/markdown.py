"""markdown.py: Markdown as this project's documents use it, to HTML: headings, paragraphs, lists, tables, code (fenced,
set in by four blanks, within lines), emphasis, links, images. All text is escaped; comments are left out, other markup
is shown as it stands."""
import html
import re

FENCE = re.compile(r"^( *)```(\w*)[^`]*$")
ITEM = re.compile(r"^( *)([-*]|\d+[.)]) +")
FIRST_ITEM = re.compile(r"^ {0,3}([-*]|1[.)]) +")  # what may follow a paragraph's line: of numbers, only 1
CODE = re.compile(r"(`+)(.+?)\1(?!`)", re.S)
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)")


def slug(text):
    """A heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def plain(text):
    """A heading without its marks."""
    return re.sub(r"[`*]", "", LINK.sub(r"\2", text))


class Page:
    """body: the HTML; title; headings: (level, anchor, text); links: what resolve() was asked."""

    def __init__(self, text, resolve):
        self.resolve, self.headings, self.anchors = resolve, [], set()
        text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
        self.body = "\n".join(self._blocks(text.split("\n")))
        self.title = self.headings[0][2] if self.headings else ""

    # ---- Within a paragraph

    def _inline(self, text):
        kept = []

        def keep(markup):
            kept.append(markup)
            return f"\0{len(kept) - 1}\0"

        def code(match):
            return keep(f"<code>{html.escape(match[2].strip() if match[1] != '`' else match[2])}</code>")

        def link(match):
            words, target = match[2], self.resolve(match[3])
            if match[1]:
                return keep(f"<img src=\"{html.escape(target or '')}\" alt=\"{html.escape(words)}\">")
            if target is None:  # a file of the source tree
                return keep("<span class=\"file\">") + words + keep("</span>")
            return keep(f"<a href=\"{html.escape(target)}\">") + words + keep("</a>")

        text = html.escape(LINK.sub(link, CODE.sub(code, text.replace("\0", ""))), quote=False)
        text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text, flags=re.S)
        text = re.sub(r"(?<![\w*\\])\*(?!\s)([^*]+?)(?<!\s)\*(?![\w*])", r"<em>\1</em>", text)
        text = re.sub(r"\\([*_`\[\]|\\])", r"\1", text)
        while "\0" in text:
            text = re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)
        return text

    # ---- Blocks

    def _blocks(self, lines):
        at = 0
        while at < len(lines):
            line = lines[at]
            fence, heading = FENCE.match(line), re.match(r"^(#{1,6}) +(.*?) *#*$", line)
            if not line.strip():
                at += 1
            elif fence:
                at, block = self._fence(lines, at, len(fence[1]))
                yield block
            elif line.startswith("    "):
                end = self._while(lines, at, lambda x: x.startswith("    ") or not x.strip())
                yield self._code([x[4:] for x in lines[at:end]])
                at = end
            elif heading:
                yield self._heading(len(heading[1]), heading[2])
                at += 1
            elif line.startswith("|"):
                end = self._while(lines, at, lambda x: x.startswith("|"))
                yield self._table(lines[at:end])
                at = end
            elif ITEM.match(line):
                end = self._end_of_list(lines, at)
                yield self._list(lines[at:end])
                at = end
            elif line.startswith(">"):
                end = self._while(lines, at, lambda x: x.startswith(">"))
                inner = [re.sub("^> ?", "", x) for x in lines[at:end]]
                yield "<blockquote>" + "\n".join(self._blocks(inner)) + "</blockquote>"
                at = end
            else:
                end = at + 1
                while end < len(lines) and lines[end].strip() and not FENCE.match(lines[end]) and \
                        not re.match(r"#{1,6} |[|>]", lines[end]) and not FIRST_ITEM.match(lines[end]):
                    end += 1
                yield f"<p>{self._inline(chr(10).join(lines[at:end]))}</p>"
                at = end

    @staticmethod
    def _while(lines, at, belongs):
        while at < len(lines) and belongs(lines[at]):
            at += 1
        return at

    @staticmethod
    def _code(lines):
        code = "\n".join(lines).rstrip("\n")
        return f"<pre tabindex=\"0\"><code>{html.escape(code)}</code></pre>"

    def _fence(self, lines, at, indent):
        end = at + 1
        while end < len(lines) and lines[end].strip() != "```":
            end += 1
        code = [line[indent:] if not line[:indent].strip() else line for line in lines[at + 1:end]]
        return end + 1, self._code(code)

    def _heading(self, level, text):
        anchor, n = slug(plain(text)), 1
        while anchor in self.anchors:
            anchor, n = f"{slug(plain(text))}-{n}", n + 1
        self.anchors.add(anchor)
        self.headings.append((level, anchor, plain(text)))
        return f"<h{level} id=\"{html.escape(anchor)}\">{self._inline(text)}</h{level}>"

    def _table(self, lines):
        rows = [[cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
                for line in lines]
        has_head = len(rows) > 1 and all(re.fullmatch(r":?-+:?", cell) for cell in rows[1])
        out = []
        for number, row in enumerate(rows):
            if has_head and number == 1:
                continue
            kind = "th" if has_head and number == 0 else "td"
            out.append("<tr>" + "".join(f"<{kind}>{self._inline(cell)}</{kind}>" for cell in row) + "</tr>")
        return "<div class=\"wide\" tabindex=\"0\"><table>\n" + "\n".join(out) + "\n</table></div>"

    @staticmethod
    def _end_of_list(lines, at):
        while at < len(lines):
            if not lines[at].strip():  # goes on after a blank line if that is set in, or another item
                after = at + 1
                if after >= len(lines) or not (lines[after].startswith("  ") or ITEM.match(lines[after])):
                    return at
            elif re.match(r"#{1,6} |[|>]", lines[at]) or FENCE.match(lines[at]) and not lines[at].startswith(" "):
                return at
            at += 1
        return at

    def _list(self, lines):
        first = ITEM.match(lines[0])
        items = []
        for line in lines:
            mark = ITEM.match(line)
            if mark and len(mark[1]) <= len(first[1]):
                items.append([line[mark.end():]])
                indent = mark.end()
            else:
                items[-1].append(line[indent:] if not line[:indent].strip() else line.lstrip())
        kind = "ol" if first[2][0].isdigit() else "ul"
        out = []
        for item in items:
            blocks = list(self._blocks(item))
            if blocks and blocks[0].startswith("<p>"):
                blocks[0] = blocks[0][3:-4]
            out.append("<li>" + "\n".join(blocks) + "</li>")
        return f"<{kind}>\n" + "\n".join(out) + f"\n</{kind}>"
