"""The code of docs/python.md, the notebook, and what is generated."""

import ast
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import ROOT

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
    text = (ROOT / "docs/python.md").read_text()
    for old, new in SMALLER:
        assert old in text, old
        text = text.replace(old, new)
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) > 8
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in blocks:
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


def test_the_notebook_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "examples/first_steps.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace("steps=300", "steps=20")
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
