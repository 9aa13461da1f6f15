"""The command on the PATH."""

import subprocess
import sys
from importlib.metadata import distribution

import unbraid


def test_the_command_is_installed(command):
    assert command("--version") == f"unbraid {unbraid.__version__}\n"
    assert "Train a model" in command("--help")


def test_the_module_is_the_same_command(command):
    module = subprocess.run([sys.executable, "-m", "unbraid", "data", "list"], capture_output=True, text=True, check=True)
    assert module.stdout == command("data", "list")


def test_exit_codes_are_those_of_the_command(command):
    command("evaluate", "--codes", "no-such.npz", code=2)
    command("no-such-verb", code=2)


def test_a_reader_that_goes_is_no_error():
    shown = subprocess.run(
        f"{sys.executable} -m unbraid metrics | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert shown.stderr == "" and shown.stdout.count("\n") == 1


def test_numpy_is_the_only_dependency():
    assert [need for need in distribution("unbraid").requires if "extra" not in need] == ["numpy>=1.26"]
