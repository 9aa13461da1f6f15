"""The cluster accuracy of joint-vae's published model on MNIST, by PyTorch: the numbers in the tests of `unbraid import`.

    python tools/golden_joint_vae.py MODEL.pt MNIST_DIRECTORY

Each class of the model is mapped to the digit that is most common in it among the training images. Images are resized
from 28 to 32 pixels bilinearly, with grey levels rounded after each direction, as Pillow does, or once at the end, as our
reader does. Prints how many of the 10,000 test images and of the 60,000 training images get their digit, the smallest
distance between the two largest logits of a test image, and the largest error of single precision.

Needs: pip install torch numpy
"""
import sys

import numpy as np
import torch
from torch.nn import functional

from mnist import digit_of_class, read, resized


def logits(state, images, kind=torch.float32):
    state = {name: tensor.to(kind) for name, tensor in state.items()}
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


def main():
    state = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
    train, train_digits, test, test_digits = read(sys.argv[2])
    for twice in (True, False):
        train_class = logits(state, resized(train, twice)).argmax(axis=1)
        digit = digit_of_class(train_class, train_digits)
        single, double = (logits(state, resized(test, twice), kind) for kind in (torch.float32, torch.float64))
        largest = np.sort(double, axis=1)
        print(
            "rounded twice:" if twice else "rounded once: ",
            (digit[single.argmax(axis=1)] == test_digits).sum(),
            (digit[train_class] == train_digits).sum(),
            (largest[:, -1] - largest[:, -2]).min(),
            abs(single - double).max(),
        )


if __name__ == "__main__":
    main()
