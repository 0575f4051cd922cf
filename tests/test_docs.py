"""The pages in docs/: complete, and right in what they name."""

import inspect
import re
import shlex
import tomllib
from importlib import import_module

import pytest
import typer

import polychotomy
from polychotomy.cli._app import app
from tests.programs import ROOT, load_program

PAGES = sorted(
    [*ROOT.glob("*.md"), *(p for p in ROOT.glob("docs/**/*.md") if p.parent.name != "api")]
)
NAMED = {str(page.relative_to(ROOT)): page for page in PAGES}
every_page = pytest.mark.parametrize("name", NAMED)


def without_code(text):
    """Return a page without its code, and the targets of its links' outer braces."""
    return re.sub(r"^(```|:::).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ +(.+)$", without_code(page.read_text()), flags=re.MULTILINE)
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
        generated = {"gallery", "api"} & set(target.relative_to(ROOT).parts)
        assert generated or target.exists(), f"{name} links to {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{name} links to {link}"


def commands(page):
    """Return the lines of a page's console blocks, continued ones joined, without comments."""
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
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
            assert (ROOT / program).exists() or program in ("git", "cd", "python"), program


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
