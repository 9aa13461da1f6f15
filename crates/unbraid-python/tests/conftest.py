"""What the tests share. They test the installed wheel."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unbraid

ROOT = Path(__file__).resolve().parents[3]

#: 192 images: 3 shapes, one scale and orientation, 8 x 8 positions.
SMALL = "shapes(scales=1, orientations=1, positions=8)"


@pytest.fixture(scope="session")
def command():
    """Runs the command that the wheel installed."""
    program = Path(sys.executable).parent / "unbraid"

    def run(*arguments, code=0):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A run of a few steps, with a score and a page. Tests read it only."""
    return unbraid.train(
        SMALL,
        out=tmp_path_factory.mktemp("runs") / "a",
        objective="beta-tcvae",
        beta=6,
        steps=30,
        seed=3,
        set={
            "model.architecture": {"name": "burgess", "channels": 4, "hidden": 16},
            "training.log_every": 10,
            "evaluation.metrics": ["mig", "sap"],
        },
        progress=False,
    )


@pytest.fixture(scope="session")
def points():
    """Codes that follow two of three factors, with noise."""
    generator = np.random.default_rng(0)
    factors = np.stack([generator.integers(0, size, 600) for size in (3, 4, 5)], axis=1)
    codes = generator.normal(size=(600, 4)) * 0.1
    codes[:, 0] += factors[:, 0]
    codes[:, 2] -= factors[:, 1]
    return codes, factors
