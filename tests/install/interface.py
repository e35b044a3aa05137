"""interface.py INCLUDE [CLI_H]: prints what programs that were compiled with the public headers of a folder rely on: of
each struct its size and its fields, as NAME OFFSET+BYTES; the numbers of enums and macros; what functions take and
return; and the exit codes of the commands. broken() says what a newer list takes away. On 64-bit machines only.
"""
import os
import re
import subprocess
import sys
import tempfile

FIELD = re.compile(r"\(\*(\w+)\)|(\w+)(?:\[[^\]]*\])*$")
STRUCT = re.compile(r"\bstruct (leat_\w+) \{((?:[^{}]|\{[^{}]*\})*)\};")


def declarations(include):
    """The text of the headers after the preprocessor, without what the C library's have, and the names of macros."""
    said = subprocess.run([*os.environ.get("CC", "cc").split(), "-E", f"-I{include}", "-"],
                          input="#include <leat_pack.h>\n", stdout=subprocess.PIPE, check=True, text=True).stdout
    text, own = [], False
    for line in said.splitlines():
        mark = re.match(r'# \d+ "(.*?)"', line)
        if mark:
            own = mark[1].startswith(str(include))
        elif own:
            text.append(line)
    macros = []
    for folder, _, names in os.walk(include):
        for name in sorted(set(names) - {"leat_read.h"}):  # programs copy it, and rely on none of the library's
            with open(os.path.join(folder, name), encoding="utf-8") as header:
                macros += re.findall(r"^#define (LEAT_\w+) +(?!__|\"|\{).*\d", header.read(), re.M)
    macros = sorted(name for name in macros if not name.endswith("_INIT") and "VERSION" not in name)
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", " ".join(text)), macros


def fields(body):
    """Names of the members of a struct's body."""
    body = re.sub(r"\([^()*][^()]*\)|\{[^{}]*\}", "", body)  # arguments of pointers to functions, what a union has
    for declaration in filter(str.strip, body.split(";")):
        for one in declaration.split(","):
            yield next(filter(None, FIELD.search(one.strip()).groups()))


def numbers(include, structs, constants):
    """What a program that is compiled with the headers says of these."""
    lines = ['#include <leat_pack.h>', '#include <stddef.h>', '#include <stdio.h>', 'int main(void) {']
    for name, members in structs:
        lines += [f'printf("struct {name} %zu:", sizeof(struct {name}));']
        lines += [f'printf(" {m} %zu+%zu", offsetof(struct {name}, {m}), sizeof(((struct {name} *)0)->{m}));'
                  for m in members]
        lines += ['putchar(10);']
    lines += [f'printf("{name} = %lld\\n", (long long){name});' for name in constants]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "numbers")
        subprocess.run([*os.environ.get("CC", "cc").split(), f"-I{include}", "-x", "c", "-", "-o", program],
                       input="\n".join([*lines, "return 0; }"]), check=True, text=True)
        return subprocess.run([program], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()


def listed(include, cli=None):
    """The lines of the list."""
    text, macros = declarations(include)
    structs = [(name, list(fields(body))) for name, body in STRUCT.findall(text)]
    constants = [c for body in re.findall(r"\benum leat_\w+ \{(.*?)\}", text) for c in re.findall(r"\bLEAT_\w+", body)]
    rest = re.sub(r"\benum leat_\w+ \{[^{}]*\};", "", STRUCT.sub("", text))
    functions = [re.sub(r"\s+", " ", one).replace("( ", "(").strip() for one in rest.split(";")]
    lines = numbers(include, structs, constants + macros)
    lines += sorted(one for one in functions if re.search(r"\bleat_\w+\(", one))
    if cli:
        with open(cli, encoding="utf-8") as header:
            lines += [f"exit code {name} = {code}" for name, code in
                      re.findall(r"^ +(CLI_[A-Z]+) = (\d+)", header.read(), re.M)]
    return lines


def parts(line):
    """A line's name, a struct's size, and what it says."""
    struct = re.match(r"(struct \w+) (\d+):(.*)", line)
    if struct:
        return struct[1], int(struct[2]), dict(re.findall(r"(\w+) (\d+\+\d+)", struct[3]))
    name, equals, value = line.partition(" = ")
    return (name, 0, value) if equals else (re.search(r"\bleat_\w+(?=\()", line)[0], 0, line)


def broken(old, new):
    """What programs compiled by the old list no longer find. Structs may grow at their end, and have fields where
    reserved numbers were."""
    have = {parts(line)[0]: parts(line) for line in new}
    for line in old:
        name, size, wanted = parts(line)
        if name not in have:
            yield f"{name} is gone"
        elif isinstance(wanted, str):
            if have[name][2] != wanted:
                yield f"{name} was {wanted}, and is {have[name][2]}"
        else:
            if have[name][1] < size:
                yield f"{name} had {size} bytes, and has {have[name][1]}"
            for field, place in wanted.items():
                if field != "reserved" and have[name][2].get(field) != place:
                    yield f"{name}: {field} was at {place}, and is at {have[name][2].get(field)}"


if __name__ == "__main__":
    print("\n".join(listed(*sys.argv[1:])))
