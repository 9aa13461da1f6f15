"""Rebuilds runs as modules of PyTorch by the code of docs/python.md, in an interpreter that has PyTorch. Prints the largest
differences from what unbraid computed, which `test_pytorch.py` has written to a folder."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from pages import architectures, blocks, sections

folder = Path(sys.argv[1])
names = {"__name__": "page"}
# The last block uses the run of the page.
for block in blocks(sections()["PyTorch"])[:-1]:
    exec(compile(block, "docs/python.md", "exec"), names)

differences = {}
for name, call in architectures().items():
    about = json.loads((folder / f"{name}.json").read_text())
    state = dict(np.load(folder / f"{name}-state.npz"))
    computed = np.load(folder / f"{name}.npz")
    run = SimpleNamespace(**about, state_dict=lambda state=state: state)
    model = names["load"](run, *eval(call, {**names, "run": run}))
    with torch.no_grad():
        mean, log_variance, logits = model["encoder"](torch.from_numpy(computed["images"]).permute(0, 3, 1, 2))
        decoded = torch.sigmoid(model["decoder"](torch.from_numpy(computed["latents"]))).permute(0, 2, 3, 1)
        probabilities = [torch.softmax(each, 1) for each in logits]
    found = {"mean": mean, "log_variance": log_variance, "decoded": decoded}
    if probabilities:
        found["categories"] = torch.cat(probabilities, 1)
    for key, value in found.items():
        expected = computed[key]
        assert value.shape == expected.shape, (name, key, value.shape, expected.shape)
        scale = np.abs(expected).max()
        differences[f"{name} {key}"] = float(np.abs(value.numpy() - expected).max() / scale)
print(json.dumps(differences))
