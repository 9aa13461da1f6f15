"""Exported ONNX files by onnxruntime, where it is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

pytest.importorskip("onnxruntime")


def test_onnxruntime_computes_what_the_command_computes():
    program = Path(sys.executable).parent / "unbraid"
    script = ROOT / "tools" / "check_onnx.py"
    done = subprocess.run([sys.executable, script, program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
