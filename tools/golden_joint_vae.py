"""The cluster accuracy of joint-vae's published model on MNIST, by PyTorch: the numbers in the tests of `unbraid import`.

    python tools/golden_joint_vae.py MODEL.pt MNIST_DIRECTORY

The model's class of a test image stands for the digit that is most common in that class among the training images. Images
are resized from 28 to 32 pixels bilinearly, with grey levels rounded after each direction, as Pillow does, or once at the
end, as our reader does. Prints how many of the 10,000 test images and of the 60,000 training images get their digit, the
smallest distance between the two largest logits of a test image, and the largest error of single precision.

Needs: pip install torch numpy
"""
import gzip
import pathlib
import sys

import numpy as np
import torch
from torch.nn import functional

STATE = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
MNIST = pathlib.Path(sys.argv[2])


def read(name, header):
    with gzip.open(MNIST / f"{name}-ubyte.gz") as file:
        return np.frombuffer(file.read()[header:], np.uint8)


def weights(old=28, new=32):
    """Row i: what each old pixel is worth at the centre of new pixel i; at a border, the only one that is there."""
    rows = np.zeros((new, old))
    for i in range(new):
        centre = (i + 0.5) * old / new - 0.5
        for j in (int(np.floor(centre)), int(np.floor(centre)) + 1):
            if 0 <= j < old:
                rows[i, j] = 1 - abs(centre - j)
    return rows / rows.sum(axis=1, keepdims=True)


def resized(images, twice):
    change = weights()
    rows = images.astype(np.float64) @ change.T
    if twice:
        rows = np.floor(rows + 0.5)
    return np.floor(change @ rows + 0.5) / 255


def logits(images, kind=torch.float32):
    state = {name: tensor.to(kind) for name, tensor in STATE.items()}
    parts = []
    for part in np.array_split(images, max(1, len(images) // 1000)):
        values = torch.from_numpy(part).to(kind)[:, None]
        for layer in ("img_to_features.0", "img_to_features.2", "img_to_features.4"):
            weight, bias = state[f"{layer}.weight"], state[f"{layer}.bias"]
            values = torch.relu(functional.conv2d(values, weight, bias, stride=2, padding=1))
        layer = state["features_to_hidden.0.weight"], state["features_to_hidden.0.bias"]
        values = torch.relu(functional.linear(values.flatten(1), *layer))
        parts.append(functional.linear(values, state["fc_alphas.0.weight"], state["fc_alphas.0.bias"]))
    return torch.cat(parts).double().numpy()


train, train_digits = read("train-images-idx3", 16).reshape(-1, 28, 28), read("train-labels-idx1", 8)
test, test_digits = read("t10k-images-idx3", 16).reshape(-1, 28, 28), read("t10k-labels-idx1", 8)
for twice in (True, False):
    train_class = logits(resized(train, twice)).argmax(axis=1)
    digit = np.array([np.bincount(train_digits[train_class == k], minlength=10).argmax() for k in range(10)])
    single, double = (logits(resized(test, twice), kind) for kind in (torch.float32, torch.float64))
    largest = np.sort(double, axis=1)
    print(
        "rounded twice:" if twice else "rounded once: ",
        (digit[single.argmax(axis=1)] == test_digits).sum(),
        (digit[train_class] == train_digits).sum(),
        (largest[:, -1] - largest[:, -2]).min(),
        abs(single - double).max(),
    )
