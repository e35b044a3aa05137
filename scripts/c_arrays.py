"""c_arrays.py: numbers as arrays of C, for the scripts that make tables."""


def lines_of(items):
    """Words with spaces between them, broken into lines."""
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 1 > 120:
            lines.append(line)
            line = "   "
        line += " " + item
    return "\n".join(lines + [line])


def rows(values, form="{}"):
    """Numbers with commas between them, broken into lines."""
    return lines_of(form.format(v) + "," for v in values)


def array(kind, name, values, form="{}"):
    return f"static const {kind} {name}[{len(values)}] = {{\n{rows(values, form)}\n}};\n"


def braced(lists):
    """Lists of numbers, each in braces."""
    return ",\n".join("    {\n" + rows(values) + "\n    }" for values in lists)


def two_stage(kind, shared, names, tables):
    """For each table NAME_index[c >> 8], then SHARED_blocks[][256] for all; equal blocks are stored once."""
    blocks, text = {}, ""
    for name, table in zip(names, tables):
        chunks = [tuple(table[first:first + 256]) for first in range(0, 0x110000, 256)]
        text += array("uint8_t", f"{name}_index", [blocks.setdefault(chunk, len(blocks)) for chunk in chunks])
    assert len(blocks) <= 256
    return text + f"static const {kind} {shared}_blocks[{len(blocks)}][256] = {{\n{braced(blocks)}\n}};\n"
