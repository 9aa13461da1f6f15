"""The code of docs/python.md, the notebook, and what is generated."""

import ast
import html
import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from conftest import ROOT
from pages import blocks, sections

#: What the page does at leisure and a test cannot wait for. Everything else is run to the letter.
SMALLER = [
    ("scores = unbraid.evaluate(codes, factors) ", 'scores = unbraid.evaluate(codes, factors, metrics=["mig", "sap"]) '),
    ("steps=5000, seed=0", 'steps=5, seed=0, set={"evaluation.metrics": ["mig"]}'),
    ("steps=2000", "steps=5"),
    ('"training.steps" = 5000', '"training.steps" = 5\n"data.positions" = 4\n"evaluation.metrics" = ["mig"]'),
    ('load("scenes") ', 'load("scenes", hues=2, shapes=2) '),
    ('train("scenes"', 'train("scenes(hues=2, shapes=2)"'),
]


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    parts = sections()
    if importlib.util.find_spec("torch") is None:
        # test_pytorch.py runs it by another interpreter, if one has PyTorch.
        del parts["PyTorch"]
    text = "".join(parts.values())
    for old, new in SMALLER:
        assert old in text, old
        text = text.replace(old, new)
    code = blocks(text)
    assert len(code) > 8
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in code:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert isinstance(names["table"]["mig"], np.ndarray)


def test_the_functions_of_metrics_are_up_to_date():
    """They are written by a script, from what the package says."""
    subprocess.run([sys.executable, ROOT / "tools/python_metrics.py", "--check"], check=True)


def test_stubs_have_every_name():
    """Every public name of the native module, with its parameters in order."""
    import inspect

    from unbraid import _native

    stubs = ast.parse((ROOT / "crates/unbraid-python/python/unbraid/_native.pyi").read_text())
    functions = {node.name: node for node in stubs.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in stubs.body if isinstance(node, ast.ClassDef)}

    def parameters(node):
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return [argument.arg for argument in named if argument.arg not in ("self", "cls")]

    def found(function):
        kinds = inspect.Parameter
        listed = inspect.signature(function).parameters.values()
        return [p.name for p in listed if p.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL) and p.name != "self"]

    for name, value in vars(_native).items():
        if inspect.isclass(value):
            members = {node.name: node for node in classes[name].body if isinstance(node, ast.FunctionDef)}
            for member, attribute in vars(value).items():
                if member.startswith("__"):
                    continue
                assert member in members, (name, member)
                if inspect.isroutine(attribute):
                    assert parameters(members[member]) == found(attribute), (name, member)
        elif inspect.isroutine(value):
            assert parameters(functions[name]) == found(value), name


def test_stubs_are_those_of_the_package(tmp_path):
    """Names, parameters, defaults and types of the whole package, by mypy, whose comparison also checks the types inside."""
    pytest.importorskip("mypy")
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-sklearn.*]\nignore_missing_imports = True\n")
    # mypy sees a cached function as one of any parameters.
    (tmp_path / "allowed").write_text("unbraid._scores._descriptions\n")
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy.stubtest", "unbraid", "--concise", "--ignore-missing-stub", "--mypy-config-file",
            "mypy.ini", "--allowlist", "allowed",
        ],
        capture_output=True, text=True, cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def public(module):
    """Everything public of a module, with the methods of its classes."""
    import inspect

    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            yield f"{module.__name__}.{name}", value
        if inspect.isclass(value):
            for member, attribute in vars(value).items():
                if not member.startswith("_"):
                    yield f"{module.__name__}.{name}.{member}", attribute


def test_everything_public_has_a_docstring():
    import inspect

    import unbraid

    for name, value in [*public(unbraid), *public(unbraid.datasets)]:
        if inspect.isroutine(value) or inspect.isclass(value) or inspect.isdatadescriptor(value):
            assert value.__doc__ and value.__doc__[0].isupper(), name
    # Those with many parameters say what each of them is.
    for function in (unbraid.train, unbraid.evaluate, unbraid.Run, unbraid.datasets.load, unbraid.Study):
        for parameter in inspect.signature(function).parameters:
            assert parameter in function.__doc__.split("Parameters\n", 1)[1], (function, parameter)


def test_the_notebook_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "examples/first_steps.ipynb", as_version=4)
    # As it is read on a page that does not run it: with outputs, and without errors among them.
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(output.output_type != "error" for cell in code for output in cell.outputs)
    assert sum(bool(cell.outputs) for cell in code) >= len(code) - 1
    shown = [output.data["text/html"] for cell in code for output in cell.outputs if "text/html" in output.get("data", {})]
    [frame] = [output for output in shown if output.startswith("<iframe")]
    # The page in it is that of this version.
    for script in ("engine.js", "pictures.js", "features.js", "panel.js"):
        text = (ROOT / "crates/unbraid-report/assets/live" / script).read_text()
        assert html.escape(text) in frame, f"{script} has changed: jupyter execute --inplace examples/first_steps.ipynb"
    [training] = [cell for cell in code if "steps=300" in cell.source]
    training.source = training.source.replace("steps=300", "steps=20")
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
