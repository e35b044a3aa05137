#!/usr/bin/env python3
"""shape.py PICTURE [FOLDER]: how the C code is built: modules in layers by what they include, the rooms with the most
files, the largest files, the longest functions, files that call each other in a circle, and PICTURE, an SVG of the
modules. Exits 1 if modules or headers include each other in a circle, or if files of a room call each other in one.

A module is a group of tests/lint/includes.txt. Of a FOLDER it is a header with the sources that include it and begin
with its name; there circles are told, and no failure: a header that only the sources of another module share is one.
A layer is the longest way down the includes. A file calls another one of its folder if it names a function that the
other one defines, outside of comments and strings. A function is as long as from its first line to its closing brace;
in this layout of code no other brace stands in the first column. Generated tables are left out, except among the files
of a room."""
import fnmatch
import pathlib
import re
import statistics
import sys

FOLDERS = ("include", "src", "tokenize_tools", "bench", "python/src")
COLOURS = (("include", "#ddd"), ("tokenize_tools/cli", "#fd9"), ("tokenize_tools/commands", "#fd9"), ("src", "#bdf"),
           ("tokenize_tools/", "#bea"), ("", "#fd9"))
GENERATED = re.compile(r"_tables\.h$")
INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
SHOWN = 15  # rows per list of rooms, files and functions
GAP = 20  # pixels between boxes


def read(folders):
    paths = sorted(str(path) for folder in folders for path in pathlib.Path(folder).rglob("*.[ch]"))
    return {path: pathlib.Path(path).read_text().split("\n")[:-1] for path in paths if not GENERATED.search(path)}


def rooms_of(folders):
    """Returns (files, room), most files first. A room is a folder of code."""
    rooms = [str(path.parent) for folder in folders for path in pathlib.Path(folder).rglob("*.[ch]")]
    return sorted(((rooms.count(room), room) for room in set(rooms)), key=lambda room: (-room[0], room[1]))


def groups_of(files):
    """Returns the module of each file, by the first row of the table that fits."""
    table = pathlib.Path("tests/lint/includes.txt").read_text().splitlines()
    rows = [line.split() for line in table if line[:1].islower()]
    return {file: next(row[1] for row in rows if any(fnmatch.fnmatch(file, p) for p in row[2].split(",")))
            for file in files}


def families_of(files, includes):
    """Returns the module of each file by its name: writer_names.c belongs to writer, whose header it includes."""
    headers = {(file, target[:-2]) for file, _, target in includes if target.endswith(".h")}

    def family(file):
        stem = file[:-2]
        while stem + ".h" not in files or (file, stem) not in headers | {(stem + ".h", stem)}:
            stem, _, rest = stem.rpartition("_")
            if not rest or "/" in rest:
                return file[:-2]
        return stem
    return {file: family(file).rpartition("/")[2] for file in files}


def includes_of(files):
    """Yields (file, line, included file) for all includes of the project's own files."""
    for file, lines in files.items():
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                own = ("python/src",) if file.startswith("python/") else (".",)
                where = (pathlib.Path(file).parent, "include", *own, "src", "tokenize_tools")
                paths = (pathlib.Path(folder, match[1]).resolve() for folder in where)
                known = (str(path.relative_to(pathlib.Path.cwd())) for path in paths if path.exists())
                if (target := next(known, None)) in files:
                    yield file, number, target


def reach_of(edges):
    """Returns everything that each name leads to, by one edge or several."""
    reach = {}
    for start in edges:
        found, todo = set(), list(edges[start])
        while todo:
            if (name := todo.pop()) not in found:
                found.add(name)
                todo += edges[name]
        reach[start] = found
    return reach


def layers_of(edges, reach):
    layer = dict.fromkeys(edges, 0)
    for _ in edges:
        for name in edges:
            below = (layer[other] + 1 for other in edges[name] if name not in reach[other])
            layer[name] = max(below, default=0)
    return layer


def functions_of(lines):
    """Yields (lines, name, first line, whether other files may call it) for each function of a file."""
    for brace in (i for i, line in enumerate(lines) if line == "{"):
        begin = brace
        while begin > 0 and re.match(r"[\w\s].*[^;]$", lines[begin - 1]) and not lines[begin - 1].endswith("*/"):
            begin -= 1
        head = [line for line in lines[begin:brace] if line[0] != " "][-1]
        yield lines.index("}", brace) - begin + 1, re.search(r"(\w+)\(", head)[1], begin + 1, head[:7] != "static "


def calls_of(files):
    """Returns (folder, file, other): a function of `file` names one that `other`, in its folder, defines for others."""
    homes, words = {}, {}
    for file in (file for file in files if file.endswith(".c")):
        folder = str(pathlib.Path(file).parent)
        homes.update(((folder, name), file) for _, name, _, shared in functions_of(files[file]) if shared)
        words[file] = folder, set(re.findall(r"(?<!struct )\b\w+", COMMENT_OR_STRING.sub("", "\n".join(files[file]))))
    for file, (folder, names) in words.items():
        for other in {homes.get((folder, name), file) for name in names} - {file}:
            yield folder, file, other


def call_circles(files):
    """Returns a line for each circle of calls."""
    calls = list(calls_of(files))
    edges = {file: set() for _, *both in calls for file in both}
    for _, file, other in calls:
        edges[file].add(other)
    reach = reach_of(edges)
    for file in sorted(edges):
        circle = sorted(other for other in reach[file] if file in reach[other])
        if circle and file == circle[0]:
            others = ", ".join(pathlib.Path(other).stem for other in circle[1:])
            yield f"{file}:1: calls lead back to it from {others}"


def circles(includes, module):
    """Returns the includes of a module or a header that lead back to it."""
    for of in (module, {file: file for file in module}):
        edges = {name: set() for name in of.values()}
        for file, _, target in includes:
            if of[file] != of[target]:
                edges[of[file]].add(of[target])
        reach = reach_of(edges)
        for file, number, target in includes:
            if of[file] != of[target] and of[file] in reach[of[target]]:
                yield f"{file}:{number}: {of[file]} includes {of[target]}, which leads back to it"


def place(edges, layer, width, height):
    """Returns the middle and the top of each box. Rows are centred, and a box stands near those that it is joined
    to."""
    rows = [sorted(name for name in edges if layer[name] == i) for i in range(max(layer.values()) + 1)]
    whole = max(sum(width[name] + GAP for name in row) for row in rows) + GAP
    middle = dict.fromkeys(edges, whole / 2)
    users = {name: {other for other in edges if name in edges[other]} for name in edges}
    for turn in range(9):
        near = users if turn % 2 else edges
        for row in rows[::-1] if turn % 2 else rows:
            row.sort(key=lambda name: statistics.fmean([middle[other] for other in near[name]] or [middle[name]]))
            at = (whole - sum(width[name] + GAP for name in row)) / 2
            for name in row:
                middle[name] = at + GAP / 2 + width[name] / 2
                at += width[name] + GAP
    top, at = {}, GAP
    for row in reversed(rows):
        top.update(dict.fromkeys(row, at))
        at += max(height[name] for name in row) + 3 * GAP
    return middle, top, whole, at


def draw(edges, reach, layer, size, colour):
    """Returns the picture. The area of a box is its lines. A pale arrow is an include that another one brings along."""
    width = {name: max(9 * len(name) + 16, 2.4 * size[name] ** 0.5) for name in edges}
    height = {name: max(36, 0.8 * size[name] ** 0.5) for name in edges}
    middle, top, whole, bottom = place(edges, layer, width, height)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole:.0f} {bottom:.0f}" font-family="sans-serif" '
           'text-anchor="middle"><rect width="100%" height="100%" fill="#fff"/>')
    for pale in (True, False):
        for name in edges:
            for other in sorted(edges[name]):
                if pale == any(other in reach[between] for between in edges[name]):
                    x, y, u, v = middle[name], top[name] + height[name], middle[other], top[other]
                    way = f"M{x:.0f} {y:.0f} C{x:.0f} {y + GAP:.0f} {u:.0f} {v - 2 * GAP:.0f} {u:.0f} {v - 1:.0f}"
                    yield (f'<path d="{way} l-4 -7 m4 7 l4 -7" fill="none" stroke="{"#e8e8e8" if pale else "#555"}">'
                           f"<title>{name} includes {other}</title></path>")
    for name in edges:
        x, y, w, h = middle[name], top[name], width[name], height[name]
        yield (f"<g><title>{name} includes {', '.join(sorted(edges[name])) or 'nothing'}</title>"
               f'<rect x="{x - w / 2:.0f}" y="{y:.0f}" width="{w:.0f}" height="{h:.0f}" rx="4" fill="{colour[name]}" '
               f'stroke="#555"/><text x="{x:.0f}" y="{y + h / 2 - 1:.0f}" font-size="15">{name}</text>'
               f'<text x="{x:.0f}" y="{y + h / 2 + 13:.0f}" font-size="11">{size[name]:,}</text></g>')
    yield "</svg>"


def main(picture, folder=None):
    files = read([folder] if folder else FOLDERS)
    includes = list(includes_of(files))
    module = families_of(files, includes) if folder else groups_of(files)
    edges = {name: set() for name in module.values()}
    size = dict.fromkeys(edges, 0)
    colour = {module[file]: next(c for prefix, c in COLOURS if file.startswith(prefix)) for file in reversed(files)}
    for file, lines in files.items():
        size[module[file]] += len(lines)
    for file, _, target in includes:
        if module[file] != module[target]:
            edges[module[file]].add(module[target])
    reach = reach_of(edges)
    layer = layers_of(edges, reach)
    pathlib.Path(picture).write_text("\n".join(draw(edges, reach, layer, size, colour)) + "\n")
    print(f"{'layer':5}  {'module':20}  {'lines':>6}  {'included by':>11}  {'includes':>8}")
    for name in sorted(edges, key=lambda name: (-layer[name], name)):
        users = sum(name in others for others in edges.values())
        print(f"{layer[name]:5}  {name:20}  {size[name]:6}  {users:11}  {len(edges[name]):8}")
    functions = sorted((-count, f"{file}:{line}", name) for file in files
                       for count, name, line, _ in functions_of(files[file]))
    print(f"{sum(size.values())} lines in {len(files)} files, {len(functions)} functions")
    print("\nthe rooms with the most files")
    for count, room in rooms_of([folder] if folder else FOLDERS[1:])[:SHOWN]:
        print(f"{count:5}  {room}")
    print("\nthe largest files")
    for file in sorted(files, key=lambda file: -len(files[file]))[:SHOWN]:
        print(f"{len(files[file]):5}  {file}")
    print("\nthe longest functions")
    for count, at, name in functions[:SHOWN]:
        print(f"{-count:5}  {name}  {at}")
    found = list(circles(includes, module))
    print("\nincludes in a circle:", *found or ["none"], sep="\n" if found else " ")
    calls = list(call_circles(files))
    print("\ncircles of calls:", *calls or ["none"], sep="\n" if calls else " ")
    return 1 if not folder and (found or calls) else 0


sys.exit(main(*sys.argv[1:]))
