"""The modules of PyTorch in docs/python.md compute what unbraid computes. Skipped where no interpreter has PyTorch."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unbraid
from pages import architectures

SCRIPT = Path(__file__).with_name("torch_modules.py")

#: Settings of the architectures that have some, as in the table of the page.
SETTINGS = {
    "burgess": {"name": "burgess", "channels": 32, "hidden": 256},
    "mlp": {"name": "mlp", "encoder": [256, 128], "decoder": [128, 256], "decoder_activation": "tanh"},
}

JOINT = {
    "objective": "joint-vae", "gamma_continuous": 30.0, "gamma_categorical": 30.0,
    "capacity_continuous": {"from": 0.0, "to": 5.0, "end": 100}, "capacity_categorical": 1.0,
}


@functools.cache
def interpreter():
    """A Python that has PyTorch: this one, that of `UNBRAID_PYTORCH`, or the system's, outside of any environment."""
    outside = [Path(sys.base_prefix) / "bin/python3", "/usr/bin/python3"]
    for python in [sys.executable, os.environ.get("UNBRAID_PYTORCH"), *outside]:
        if python is None or not os.path.isfile(python):
            continue
        if subprocess.run([python, "-c", "import torch, numpy"], capture_output=True).returncode == 0:
            return python
    return None


def test_the_table_has_every_architecture():
    with pytest.raises(ValueError) as refused:
        unbraid.train("shapes", set={"model.architecture": "none-such"}, progress=False)
    # The message lists what there is.
    assert set(str(refused.value).split("expected one of ")[1].split(", ")) == set(architectures())


def test_modules_of_pytorch_compute_the_same(tmp_path):
    python = interpreter()
    if python is None:
        pytest.skip("no PyTorch here; UNBRAID_PYTORCH may name a Python that has it")
    sizes = {
        size: unbraid.datasets.load("scenes", hues=1, scales=2, shapes=2, orientations=4, size=size) for size in (32, 64)
    }
    for name in architectures():
        data = sizes[32 if name == "dupont-32" else 64]
        run = unbraid.train(
            data, out=tmp_path / "runs" / name, steps=3, batch_size=8, seed=1, evaluate=False, report=False, progress=False,
            set={
                "model.architecture": SETTINGS.get(name, name),
                "model.latents": {"continuous": 5, "categorical": [3, 2] if name.startswith("dupont") else []},
            },
            **(JOINT if name.startswith("dupont") else {"objective": "beta-vae"}),
        )
        images = data.images[:7]
        mean, log_variance = run.encode(images)
        latents = run.latents(images)
        about = {"image_shape": run.image_shape, "n_units": run.n_units, "categorical_units": run.categorical_units}
        (tmp_path / f"{name}.json").write_text(json.dumps(about))
        np.savez(tmp_path / f"{name}-state.npz", **run.state_dict())
        np.savez(
            tmp_path / f"{name}.npz", images=images, mean=mean, log_variance=log_variance, latents=latents,
            decoded=run.decode(latents), categories=run.categories(images),
        )
    done = subprocess.run([python, SCRIPT, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    differences = json.loads(done.stdout)
    # Mean, log-variance and image of each, and the classes of the two with categorical units.
    assert len(differences) == 3 * len(architectures()) + 2
    # Single precision has 6e-8; sums of a thousand products in another order, through up to eleven layers, and Winograd's
    # algorithm leave some hundred times that.
    assert max(differences.values()) < 2e-5, differences
