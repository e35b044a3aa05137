"""c_arrays.py: numbers as arrays of C, for the scripts that make tables."""


def lines_of(items):
    """Joins words with spaces, broken into lines."""
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 1 > 120:
            lines.append(line)
            line = "   "
        line += " " + item
    return "\n".join(lines + [line])


def rows(values, form="{}"):
    """Joins numbers with commas, broken into lines."""
    return lines_of(form.format(v) + "," for v in values)


def array(kind, name, values, form="{}"):
    return f"static const {kind} {name}[{len(values)}] = {{\n{rows(values, form)}\n}};\n"


def braced(lists):
    """Returns lists of numbers, each in braces."""
    return ",\n".join("    {\n" + rows(values) + "\n    }" for values in lists)


def two_stage(kind, shared, names, tables):
    """Returns NAME_index[c >> 8] for each table, and one SHARED_blocks[][256] that stores equal blocks once."""
    blocks, text = {}, ""
    for name, table in zip(names, tables):
        chunks = [tuple(table[first:first + 256]) for first in range(0, 0x110000, 256)]
        text += array("uint8_t", f"{name}_index", [blocks.setdefault(chunk, len(blocks)) for chunk in chunks])
    assert len(blocks) <= 256
    return text + f"static const {kind} {shared}_blocks[{len(blocks)}][256] = {{\n{braced(blocks)}\n}};\n"
