"""python_pages.py: the pages of the Python package for the site, from its sources, without importing them: one for each
name that `leat` exports, for leat.chat and for each module of leat.integrations, with signatures (those of the stubs,
where there are stubs) and docstrings as they stand."""
import ast
import pathlib
import re
import textwrap

OPTIONS = pathlib.Path(__file__).parents[2] / "python/leat/options.py"
DEFINITIONS = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module(body=[], type_ignores=[])


def by_name(tree):
    """What a module, or a class, defines: functions, classes, and what has a name otherwise, such as namedtuples."""
    found = {}
    for node in tree.body:
        if isinstance(node, DEFINITIONS):
            found.setdefault(node.name, node)  # of overloads the first
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return found


def keywords(arguments):
    """The class of options.py that has the keywords of a function which ends in **options, or None."""
    name = arguments.kwarg and re.search(r"Unpack\[(\w+)\]", one(arguments.kwarg))
    return name and by_name(parsed(OPTIONS))[name[1]]


def fields(of):
    """The keywords with their types, those of the classes that it is made of first."""
    classes = by_name(parsed(OPTIONS))
    bases = [classes[base.id] for base in of.bases if base.id in classes]
    own = [each for each in of.body if isinstance(each, ast.AnnAssign)]
    return [each for base in bases for each in fields(base)] + \
        [f"{each.target.id}: {ast.unparse(each.annotation)} = ..." for each in own]


def documentation(tree, node):
    """A docstring, or what the module assigns to NAME.__doc__."""
    if isinstance(node, DEFINITIONS[:2]) and keywords(node.args):
        return "\n".join(filter(None, (ast.get_docstring(node), ast.get_docstring(keywords(node.args)))))
    if isinstance(node, DEFINITIONS):
        return ast.get_docstring(node) or ""
    for other in tree.body:
        if isinstance(other, ast.Assign) and ast.unparse(other.targets[0]) == f"{node.targets[0].id}.__doc__":
            return other.value.value
    return ""


def parameters(of):
    """A function's parameters, each with its type and default, as they are written."""
    positional = of.posonlyargs + of.args
    defaults = [None] * (len(positional) - len(of.defaults)) + of.defaults
    shown = [one(*pair) for pair in zip(positional, defaults)]
    if of.posonlyargs:
        shown.insert(len(of.posonlyargs), "/")
    if of.vararg or of.kwonlyargs:
        shown.append("*" + one(of.vararg) if of.vararg else "*")
    shown += [one(*pair) for pair in zip(of.kwonlyargs, of.kw_defaults)]
    if keywords(of):
        return [*shown, *(["*"] if "*" not in shown else []), *fields(keywords(of))]
    return [*shown, *(["**" + one(of.kwarg)] if of.kwarg else [])]


def one(argument, default=None):
    kind = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    return argument.arg + kind + (f"{' = ' if kind else '='}{ast.unparse(default)}" if default is not None else "")


def signature(name, node, method=False):
    given = parameters(node.args)[1 if method else 0:]
    back = f" -> {ast.unparse(node.returns)}" if node.returns and ast.unparse(node.returns) != "None" else ""
    # lines end after a comma, not in a type
    given = [each.replace(" ", "\0") for each in given]
    text = f"{name}({', '.join(given)})" + back.replace(" ", "\0")
    return "\n".join(textwrap.wrap(text, 100, subsequent_indent="    ", break_long_words=False,
                                   break_on_hyphens=False)).replace("\0", " ")


def function(name, tree, node, stub):
    called = signature(name, stub or node)
    return "\n\n".join(filter(None, [called, textwrap.indent(documentation(tree, node), "    ")]))


def methods(node, typed):
    """What users call or read of a class, and has a docstring."""
    for name, of in by_name(node).items():
        says = documentation(node, of)
        if name.startswith("_") or not isinstance(of, DEFINITIONS[:2]) or not says:
            continue
        of = typed.get(name, of)
        decorators = [ast.unparse(each) for each in of.decorator_list]
        called = f".{name}" if "property" in decorators else signature(f".{name}", of, "staticmethod" not in decorators)
        yield f"{called}\n\n{textwrap.indent(says, '    ')}"


def of_class(name, tree, node, stub):
    """How it is made, what it says of itself, and its methods."""
    typed = by_name(stub) if stub else {}
    makes = typed.get("__init__") or by_name(node).get("__init__")
    # what the package alone makes, from an object of the library, shows no parameters
    own = not makes or parameters(makes.args)[1].startswith("native")
    fields = [ast.unparse(each) for each in node.body
              if isinstance(each, ast.AnnAssign) and not each.target.id.startswith("_")]
    parts = [documentation(tree, node), "" if makes else "\n".join(fields), *methods(node, typed)]
    return "\n\n".join([name if own else signature(name, makes, True),
                        *(textwrap.indent(part, "    ") for part in parts if part)])


def entry(name, tree, node, stub):
    if isinstance(node, ast.ClassDef):
        return of_class(name, tree, node, stub)
    if isinstance(node, DEFINITIONS):
        return function(name, tree, node, stub)
    return f"{name}\n\n{textwrap.indent(documentation(tree, node), '    ')}"


def origin(package, module, name):
    """The module in which a name that this one has is defined."""
    for line in parsed(package / (module.replace(".", "/") + ".py")).body:
        if isinstance(line, ast.ImportFrom) and name in [each.name for each in line.names]:
            return line.module.partition(".")[2]
    return module


def entries(package, module, names=None, before=""):
    """(name, text) of what a module shows; `names`: of these, in this order; `before`: stands before each name."""
    path = package / (module.replace(".", "/") + ".py")
    tree, stub = parsed(path), by_name(parsed(path.with_suffix(".pyi")))
    defined = by_name(tree)
    for name in names or [name for name, node in defined.items() if isinstance(node, DEFINITIONS)]:
        if not name.startswith("_") and name in defined:
            yield name, entry(before + name, tree, defined[name], stub.get(name))


def in_c(path):
    """The docstring that this source has as its string `doc`. Strings beside each other are one in C and in Python."""
    return ast.literal_eval("(" + re.search(r"char doc\[\] =(.*?);\n", path.read_text(encoding="utf-8"), re.S)[1] + ")")


def python_pages(folder):
    """{page: (names, text)}, of the package whose sources this folder has."""
    package, pages = folder / "leat", {}
    for line in parsed(package / "__init__.pyi").body:
        if isinstance(line, ast.ImportFrom):
            name, module = line.names[0].asname, line.module.partition(".")[2]
            for _, text in entries(package, origin(package, module, name), [name], "leat."):
                pages[f"leat.{name}"] = ([f"leat.{name}"], text)
    pages["leat.Error"] = (["leat.Error"], in_c(folder / "src/core/errors.c"))
    for module in ["chat", *sorted(f"integrations.{path.stem}" for path in package.glob("integrations/[a-z]*.py"))]:
        about = ast.get_docstring(parsed(package / (module.replace(".", "/") + ".py")))
        found = list(entries(package, module))
        pages[f"leat.{module}"] = ([f"leat.{module}.{name}" for name, _ in found],
                                   "\n\n\n".join([about, *(text for _, text in found)]))
    return pages
