"""MNIST and FashionMNIST as 32 x 32 images, and the digits of a model's classes, for other tools in this directory."""
import gzip
import pathlib

import numpy as np


def read(directory):
    """Images and digits of the training set, then of the test set."""
    sets = []
    for name in ("train", "t10k"):
        images, digits = (
            gzip.decompress((pathlib.Path(directory) / f"{name}-{kind}-ubyte.gz").read_bytes())
            for kind in ("images-idx3", "labels-idx1")
        )
        sets += [np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28), np.frombuffer(digits, np.uint8, offset=8)]
    return sets


def weights(old=28, new=32):
    """Row i: the weight of each old pixel at the centre of new pixel i; at a border, all weight is on the only neighbour."""
    rows = np.zeros((new, old))
    for i in range(new):
        centre = (i + 0.5) * old / new - 0.5
        for j in (int(np.floor(centre)), int(np.floor(centre)) + 1):
            if 0 <= j < old:
                rows[i, j] = 1 - abs(centre - j)
    return rows / rows.sum(axis=1, keepdims=True)


def resized(images, twice=True):
    """Bilinear, from 0 to 1. Grey levels are rounded after each direction, as by Pillow, or once at the end, as by unbraid."""
    change = weights()
    rows = images.astype(np.float64) @ change.T
    if twice:
        rows = np.floor(rows + 0.5)
    return np.floor(change @ rows + 0.5) / 255


def digit_of_class(classes, digits):
    """For each of ten classes, the digit that is most common in it."""
    return np.array([np.bincount(digits[classes == k], minlength=10).argmax() for k in range(10)])
