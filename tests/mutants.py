"""Put single mistakes into a package and list those that its fast tests let pass.

``python tests/mutants.py decoding --mistakes 50`` works on a copy of the tree: it draws lines of
``src/polychotomy/decoding``, puts one mistake into each (a wrong comparison, sign, constant or
argument, a term or statement left out, …) and runs the tests of the package that reach the line,
quick ones first, until one fails. All of them run if none was seen to reach it, as in compiled
code. A mistake that passes shows a missing test, or code that is not needed, or it changes nothing.
"""

import argparse
import ast
import contextlib
import copy
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a mistake must not outlive its file
sys.dont_write_bytecode = True

# Each run is a fork of this process: what takes seconds to import is imported once.
import coverage
import hypothesis
import matplotlib.pyplot  # noqa: F401
import numba
import pandas  # noqa: F401
import pytest
import sklearn.ensemble
import sklearn.model_selection
import sklearn.utils.estimator_checks  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
# Tests outside the mirror folder that are about the package.
ALSO = {
    "calibration": ["test_calibration.py"],
    "classifiers": [
        "codes/test_assignment.py",
        "evaluate/test_greedy.py",
        "properties/test_single_binary.py",
        "properties/test_training.py",
        "readout",
        "training/test_reservoir.py",
    ],
    "codes": ["properties/test_codes.py", "properties/test_targets.py"],
    "decoding": [
        "codes/test_trellis.py",
        "properties/test_decoding.py",
        "readout/test_best_classes.py",
    ],
    "errors": ["test_errors.py"],
    "export": ["cli/test_export.py"],
    "files": ["test_files.py"],
    "kernel": ["references/test_quadratic_programs.py"],
    "learners": ["classifiers/test_code_classifier.py", "classifiers/test_single_binary.py"],
    "memory": ["test_memory.py"],
    "probability": [
        "classifiers/test_probabilities.py",
        "codes/test_trellis.py",
        "properties/test_probability.py",
    ],
    "readout": ["classifiers/test_tree_classifier.py", "properties/test_training.py"],
    "saving": ["test_saving.py"],
    "structures": ["properties/test_structures.py", "references/test_mills.py"],
    "training": ["classifiers", "properties/test_training.py"],
}

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
PAIRS = (
    "min max",
    "argmin argmax",
    "minimum maximum",
    "any all",
    "zeros ones",
    "floor ceil",
    "sum mean",
    "log log1p",
    "exp expm1",
    "sort unique",
    "vstack hstack",
    "add discard",
    "append remove",
)
OPPOSITE = dict(pair.split() for pair in PAIRS)
OPPOSITE |= {b: a for a, b in OPPOSITE.items()}

MEANINGLESS = {"dtype", "stacklevel", "strict", "what"}
COMMUTATIVE = {
    "min",
    "max",
    "minimum",
    "maximum",
    "logaddexp",
    "isclose",
    "allclose",
    "array_equal",
}


def wrong(node):
    """Yield wrong forms of a node of the syntax tree."""
    match node:
        case ast.Compare(left, [operator], [right]):
            for other in COMPARISONS[type(operator)]:
                yield ast.Compare(left, [other()], [right])
        case ast.BinOp(left, operator, right) if not isinstance(left, ast.Constant | ast.JoinedStr):
            for other in OPERATORS.get(type(operator), ()):
                yield ast.BinOp(left, other(), right)
            yield left
            yield right
        case ast.AugAssign(target, ast.Add() | ast.Sub() as operator, value):
            yield ast.AugAssign(target, OPERATORS[type(operator)][0](), value)
            yield ast.Pass()
        case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert(), operand):
            yield operand
        case ast.BoolOp(operator, [first, second, *others]):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), node.values)
            yield ast.BoolOp(operator, [first, *others]) if others else first
            yield ast.BoolOp(operator, [second, *others]) if others else second
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Constant(float(value)):
            yield ast.Constant(value * 2 if value else 1.0)
            yield ast.Constant(value / 2 if value else -1.0)
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.If(ast.Constant(value=False), body, orelse)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
            yield body
            yield orelse
        case ast.Call(function, arguments, keywords):
            yield from wrong_calls(function, arguments, keywords)
        case ast.Assign([target], value) if changes(target, value):
            yield ast.Pass()
        case ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def changes(target, value):
    """Say whether an assignment changes what was there before; without others, nothing runs."""
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return not isinstance(target, ast.Name) or target.id in names


def wrong_calls(function, arguments, keywords):
    """Yield calls of the opposite function, with arguments swapped, and with one dropped."""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    if name in OPPOSITE:
        other = copy.deepcopy(function)
        setattr(other, "attr" if isinstance(function, ast.Attribute) else "id", OPPOSITE[name])
        yield ast.Call(other, arguments, keywords)
    if len(arguments) > 1 and name not in COMMUTATIVE:
        yield ast.Call(function, [arguments[1], arguments[0], *arguments[2:]], keywords)
    for s in range(len(keywords)):
        if keywords[s].arg not in MEANINGLESS:
            yield ast.Call(function, arguments, keywords[:s] + keywords[s + 1 :])


def places(node):
    """Yield (parent, field, index, child) for all code below a node that decides something."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not is_wording(child):
                yield node, field, index if isinstance(value, list) else None, child
                yield from places(child)


def is_wording(node):
    """Say whether a node is an import, an error, a warning, a text or ``__all__``."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.JoinedStr():
            return True
        case ast.Assign([ast.Name("__all__")]) | ast.Expr(ast.Constant()):
            return True
        case ast.Call(ast.Attribute(attr="warn") | ast.Name("warn" | "TypeVar" | "Literal")):
            return True
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.Assign([_], ast.Call(ast.Name("TypeVar"))):
            return True
    return False


def replace(place, child):
    node, field, index, _ = place
    if index is None:
        setattr(node, field, child)
    else:
        getattr(node, field)[index] = child


def mistakes(package, number, random_state):
    """Draw lines of a package; yield (path, line, before, after, source) with a mistake in each."""
    folder = ROOT / "src" / "polychotomy" / package
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    lines = {}
    for path in files:
        tree = ast.parse(path.read_text())
        for place in places(tree):
            for child in wrong(place[3]):
                lines.setdefault((path, place[3].lineno), []).append((tree, place, child))
    for path, line in random_state.sample(sorted(lines), min(number, len(lines))):
        tree, place, child = random_state.choice(lines[path, line])
        before = ast.unparse(place[3])
        replace(place, child)
        yield path, line, before, ast.unparse(child), ast.unparse(ast.fix_missing_locations(tree))
        replace(place, place[3])


def tests_of(package):
    """Return the tests of a package, those of its mirror folder first."""
    chosen = [f"tests/{name}" for name in [package, *ALSO.get(package, [])]]
    source = f"src/polychotomy/{package}"
    return [p for p in [*chosen, source, f"{source}.py"] if (ROOT / p).exists()]


class Recorder:
    """A plugin of pytest that notes which tests reach each line, and their seconds.

    What a fixture or a module's import reaches counts for all tests of the file, or for all.
    """

    def __init__(self, source):
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=source)
        self.seconds = {}

    def pytest_sessionstart(self):
        self.coverage.start()

    def pytest_runtest_setup(self, item):
        self.coverage.switch_context(item.nodeid.split("::")[0])

    def pytest_runtest_call(self, item):
        self.coverage.switch_context(item.nodeid)

    def pytest_runtest_teardown(self, item):
        self.coverage.switch_context(item.nodeid.split("::")[0])

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration

    def pytest_sessionfinish(self):
        self.coverage.stop()
        data = self.coverage.get_data()
        reached = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
        Path("reached.json").write_text(json.dumps([reached, self.seconds]))


class Chooser:
    """A plugin of pytest that runs the tests that reach a line, quick ones first."""

    def __init__(self, seconds):
        self.seconds = seconds

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self.seconds]
        # Quick tests stay in their order, since they share fixtures.
        items.sort(key=lambda item: max(0.3, self.seconds[item.nodeid]))


def tests_that_reach(tree, path, line):
    """Return the seconds of each test that reaches a line, or of none if all may reach it."""
    reached, seconds = json.loads((tree / "reached.json").read_text())
    contexts = reached.get(str(tree / path.relative_to(ROOT)), {}).get(str(line), [])
    if "" in contexts:
        return {}
    return {
        test: taken
        for test, taken in seconds.items()
        if test in contexts or test.split("::")[0] in contexts
    }


def run_pytest(tree, tests, cache, plugin):
    """Run tests in this process, with the copy of the source tree."""
    os.setsid()
    output = os.open(tree / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(tree)
    sys.path[:0] = [str(tree), str(tree / "src")]
    os.environ["PYTHONPATH"] = str(tree / "src")
    if cache:
        os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = cache
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported already
    options += ["--hypothesis-profile", "mutants"]
    return pytest.main([*options, *tests], [plugin] if plugin else [])


def run_tests(tree, tests, limit, plugin, cache=None):
    """Run tests in a fork; return pytest's exit status, or None when they took too long."""
    child = os.fork()
    if not child:
        try:
            status = run_pytest(tree, tests, cache, plugin)
        except BaseException:
            traceback.print_exc()
            status = 1
        os._exit(status)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def try_mistake(tree, mistake, tests, limit):
    """Return the exit status of the tests with a mistake in the copy of the source tree."""
    path, line, *_, source = mistake
    copied = tree / path.relative_to(ROOT)
    right, stamp = copied.read_text(), copied.stat()
    seconds = tests_that_reach(tree, path, line)
    first = f"tests/{path.parent.name}/test_{path.stem.lstrip('_')}.py"
    if seconds:
        tests = list(dict.fromkeys(name.split("::")[0] for name in seconds))
    elif (ROOT / first).exists():
        tests = [first, *tests]
    copied.write_text(source)
    try:
        with contextlib.ExitStack() as stack:
            # numba would go on running what it compiled before: see CONTRIBUTING.
            compiled = path.parent.name == "_compiled"
            cache = stack.enter_context(tempfile.TemporaryDirectory()) if compiled else None
            return run_tests(tree, tests, limit, Chooser(seconds) if seconds else None, cache)
    finally:
        copied.write_text(right)
        os.utime(copied, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", help="a package or module of polychotomy, such as decoding")
    parser.add_argument("--mistakes", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="+", metavar="I", help="try these of the N only")
    parser.add_argument(
        "--limit", type=float, default=300, help="seconds for the tests of one mistake"
    )
    parser.add_argument("--tests", nargs="+", help="run these tests instead of the package's own")
    args = parser.parse_args()
    tests = args.tests or tests_of(args.package)
    hypothesis.settings.register_profile(
        "mutants",
        deadline=None,
        max_examples=20,
        derandomize=True,
        database=None,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    )
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        left_out = shutil.ignore_patterns(".*", "build", "dist")
        shutil.copytree(ROOT, tree, ignore=left_out, dirs_exist_ok=True)
        start = time.monotonic()
        source = str(tree / "src" / "polychotomy" / args.package)
        recorder = Recorder([source + "/*", source + ".py"])
        if run_tests(tree, tests, 10 * args.limit, recorder) != 0:
            sys.exit(
                (tree / "output").read_text() + "The tests must pass before a mistake is put in."
            )
        print(f"{' '.join(tests)}: {time.monotonic() - start:.0f} s", flush=True)
        tried = passed = too_long = 0
        drawn = mistakes(args.package, args.mistakes, random.Random(args.seed))
        for number, mistake in enumerate(drawn):
            if args.only and number not in args.only:
                continue
            tried += 1
            status = try_mistake(tree, mistake, tests, args.limit)
            if status == 0 or status is None:
                passed += status == 0
                too_long += status is None
                path, line, before, after, _ = mistake
                why = "" if status == 0 else " (the tests took too long)"
                print(f"\n{number}: {path.relative_to(ROOT)}:{line}{why}", flush=True)
                print(f"- {before}\n+ {after}", flush=True)
    print(f"\n{args.package}: {passed} of {tried} mistakes pass, and {too_long} took too long")


if __name__ == "__main__":
    main()
