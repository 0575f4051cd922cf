"""The pages in docs/: complete, and right in what they name."""

import inspect
import re
import shlex
import tomllib
from functools import cache
from importlib import import_module

import pytest
import typer

import polychotomy
from polychotomy.cli._app import app
from tests.pages import NAMED, blocks, without_code
from tests.programs import ROOT, load_program

every_page = pytest.mark.parametrize("name", NAMED)


def anchors(page):
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    text = page.read_text()
    for included in re.findall(r"^```\{include\} (\S+)$", text, flags=re.MULTILINE):
        text += (page.parent / included).read_text()
    headings = re.findall(r"^#+ +(.+)$", without_code(text), flags=re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()).strip() for heading in headings]
    return {word.replace(" ", "-") for word in words}


def links(page):
    return re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text()))


@every_page
def test_links_lead_somewhere(name):
    for link in links(NAMED[name]):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = (NAMED[name].parent / path).resolve() if path else NAMED[name]
        generated = {"gallery", "api", "benchmarks"} & set(target.relative_to(ROOT).parts)
        assert generated or target.exists(), f"{name} links to {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{name} links to {link}"


PACKAGE = ROOT / "src" / "polychotomy"
FILES = {path.name for path in [*PACKAGE.rglob("*"), *(ROOT / "benchmarks").rglob("*")]}
PROGRAMS = [
    p for part in ("src", "tests", "benchmarks", "docs") for p in (ROOT / part).rglob("*.py")
]


def mentioned(name):
    """Return what a page has in single backquotes, without placeholders such as NAME."""
    found = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", without_code(NAMED[name].read_text()))
    return [words for words in found if not re.search(r"[*<… ]|[A-Z]{4}", words)]


@every_page
def test_files_that_a_page_mentions_exist(name):
    for path in mentioned(name):
        if re.fullmatch(r"[\w.-]*(/[\w.-]+)*(/|\.(py|md|toml|json|lark|cu))", path):
            places = (ROOT, PACKAGE, ROOT / "tests", ROOT / "docs")
            found = any((place / path).exists() for place in places)
            assert found or path.strip("/") in FILES, f"{name} mentions {path}"


@every_page
def test_public_names_that_a_page_mentions_exist(name):
    for words in mentioned(name):
        parts = re.sub(r"\(.*\)$", "", words).removeprefix("polychotomy.").split(".")
        if parts[0] in polychotomy.__all__ and re.fullmatch(r"\w+", "".join(parts)):
            assert words.endswith(".py") or exists(parts), f"{name} mentions {words}"


def exists(parts):
    """Return whether a dotted name leads to an attribute, a module or a field of a class."""
    whole = polychotomy
    for name in parts:
        if name in getattr(whole, "__annotations__", {}):
            return True
        if not hasattr(whole, name):
            return False
        whole = getattr(whole, name)
        if not (inspect.ismodule(whole) or inspect.isclass(whole)):
            return True
    return True


@cache
def words_of_programs():
    return {word for path in PROGRAMS for word in re.findall(r"\w+", path.read_text())}


@every_page
def test_names_that_a_page_mentions_are_in_our_programs(name):
    code = re.findall(r"^```.*?^```$", NAMED[name].read_text(), re.DOTALL | re.MULTILINE)
    known = words_of_programs() | set(re.findall(r"\w+", "".join(code)))
    for words in mentioned(name):
        if re.fullmatch(r"(\w*_\w+|[A-Z]\w*[a-z]\w*[A-Z]\w*)(\(\))?", words):
            assert words.removesuffix("()") in known, f"{name} mentions {words}"


@pytest.mark.parametrize("name", [name for name in NAMED if "theory" in name])
def test_every_equation_is_in_a_file_that_the_row_of_its_table_names(name):
    for row in NAMED[name].read_text().splitlines():
        spans = re.findall(r"`([^`]+)`", row) if row.startswith("|") else []
        files = [PACKAGE / span for span in spans if span.endswith(".py")]
        texts = "".join(path.read_text() for path in files if path.exists())
        for span in spans if files else []:
            if re.fullmatch(r"[A-Za-z]\w+", span):
                assert re.search(rf"\b{span}\b", texts), f"no {span} in the files of {row}"


def commands(page):
    """Yield the words of each command in a page's console blocks, without what they are fed."""
    for block in blocks(page, "console"):
        script = re.sub(r"<<(\w+)\n.*?^\1$", "", block, flags=re.DOTALL | re.MULTILINE)
        line = ""
        for part in script.replace("\\\n", " ").splitlines():
            line += part + "\n"
            if line.count('"') % 2 == 0:  # a quoted program may have several lines
                words = shlex.split(line, comments=True)
                line = ""
                if words:
                    yield words


def check_polychotomy(words):
    """Parse the words as the command line would, without running anything."""
    command, path = typer.main.get_command(app), ["polychotomy"]
    while hasattr(command, "commands"):
        assert words[0] in command.commands, f"there is no command {path} {words[0]}"
        path.append(words[0])
        command, words = command.commands[words[0]], words[1:]
    command.make_context(" ".join(path), list(words))


def check_make(words):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert {word for word in words if "=" not in word} <= set(targets)


def check_pip(words):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for names in re.findall(r"\[([\w,]+)\]", " ".join(words)):
        assert set(names.split(",")) <= set(extras)


CHECKS = {"polychotomy": check_polychotomy, "make": check_make, "pip": check_pip}


@every_page
def test_commands_exist_with_their_options(name):
    for program, *words in commands(NAMED[name]):
        if program in CHECKS:
            CHECKS[program](words)
        else:
            assert (ROOT / program).exists() or program in ("cat", "cd", "dask", "git", "python"), (
                program
            )


def test_every_public_name_is_on_a_page_of_the_api():
    pages = {name: load_program("make_api").page(name) for name in packages()}
    top = lines_of(pages["polychotomy"])
    for package, text in pages.items():
        module = import_module(package)
        for name in getattr(module, "__all__", []):
            if not inspect.ismodule(getattr(module, name)):
                assert name in lines_of(text) | top, f"{package}.{name} is not in the API"


def packages():
    modules = {n for n in polychotomy.__all__ if inspect.ismodule(getattr(polychotomy, n))}
    inner = {f"lab.{name}" for name in polychotomy.lab.__all__}
    return ["polychotomy", *(f"polychotomy.{name}" for name in sorted(modules | inner))]


def lines_of(text):
    return {line.split()[-1] for line in text.splitlines() if line.strip()}


def test_every_public_package_has_a_page_of_the_api():
    assert set(packages()) == set(load_program("make_api").public_packages())
    assert set(packages()) <= lines_of(load_program("make_api").index())


def test_names_that_differ_by_case_have_files_that_do_not():
    names = load_program("make_api").file_names()
    assert names["polychotomy.assess.Reliability"] == "polychotomy.assess.Reliability-class"
    assert len({name.lower() for name in names.values()}) == len(names)


WHOLE = (polychotomy.assess, polychotomy.plot)


def names_of_users():
    """Return the functions and classes that most users need, by their names."""
    api = load_program("make_api")
    chosen = [(p, name) for p, groups in api.FIRST.items() for g in groups.values() for name in g]
    chosen += [(module.__name__, name) for module in WHOLE for name in module.__all__]
    found = {f"{p}.{name}": getattr(import_module(p), name) for p, name in chosen}
    return {name: each for name, each in sorted(found.items()) if callable(each)}


@pytest.mark.parametrize("name", names_of_users())
def test_names_of_users_are_documented_with_their_parameters_and_an_example(name):
    value = names_of_users()[name]
    text = inspect.getdoc(value)
    is_result = inspect.isclass(value) and "Parameters\n---" not in text  # returned by a function
    listed = re.findall(r"^\W*(\w+(?:, \w+)*)(?: :.*)?$", text, flags=re.MULTILINE)
    described = {parameter for names in listed for parameter in names.split(", ")}
    for parameter in () if is_result else inspect.signature(value).parameters:
        assert parameter in described, f"{name} does not say what {parameter} is"
    assert is_result or ">>> " in text, f"{name} has no example"
