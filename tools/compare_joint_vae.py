"""JointVAE on MNIST in PyTorch with the set-up of Dupont 2018, for comparison with `unbraid train --preset jointvae/mnist`.

Prints one JSON object for each seed: the mean loss of each epoch in nats per image, and the share of test images that get
their digit if each class of the categorical unit is mapped to its most common digit among the training images. After each
epoch `--out` has a checkpoint of each seed, from which the same command resumes.

    python tools/compare_joint_vae.py MNIST_DIRECTORY --seeds 0 1 2 --epochs 30 --out joint-pytorch

Needs: pip install torch numpy
"""
import argparse
import json
import math
import os
import pathlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from mnist import digit_of_class, read, resized

CONTINUOUS, CLASSES, PIXELS = 10, 10, 32 * 32
BATCH, LEARNING_RATE = 64, 5e-4
TEMPERATURE, TINY = 0.67, 1e-12
GAMMA, CAPACITY, CAPACITY_STEPS = 30.0, 5.0, 25_000


class OldConvTranspose2d(nn.ConvTranspose2d):
    """With the initial weights of PyTorch before version 1.0, which the author used: `n` counts input channels."""

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.in_channels * math.prod(self.kernel_size))
        for parameter in (self.weight, self.bias):
            nn.init.uniform_(parameter, -bound, bound)


INITIALIZERS = {"pytorch-0.4": OldConvTranspose2d, "pytorch": nn.ConvTranspose2d}


class Network(nn.Module):
    """The network for 32 x 32 images, with PyTorch's default initialisation of then or now."""

    def __init__(self, initializer):
        super().__init__()
        transposed = INITIALIZERS[initializer]
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 4, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 4, 2, 1), nn.ReLU(), nn.Conv2d(64, 64, 4, 2, 1),
            nn.ReLU(), nn.Flatten(), nn.Linear(64 * 4 * 4, 256), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(256, CONTINUOUS), nn.Linear(256, CONTINUOUS)
        self.classes = nn.Linear(256, CLASSES)
        self.decoder = nn.Sequential(
            nn.Linear(CONTINUOUS + CLASSES, 256), nn.ReLU(), nn.Linear(256, 64 * 4 * 4), nn.ReLU(),
            nn.Unflatten(1, (64, 4, 4)), transposed(64, 32, 4, 2, 1), nn.ReLU(),
            transposed(32, 32, 4, 2, 1), nn.ReLU(), transposed(32, 1, 4, 2, 1))


def loss_of(network, images, step):
    """Reconstruction + gamma |capacity - KL| of the continuous and of the categorical unit, in nats, the mean of a batch."""
    hidden = network.features(images)
    mean, log_variance = network.mean(hidden), network.log_variance(hidden)
    probabilities = F.softmax(network.classes(hidden), dim=1)
    continuous = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
    gumbel = -torch.log(-torch.log(torch.rand_like(probabilities) + TINY) + TINY)
    categorical = F.softmax((torch.log(probabilities + TINY) + gumbel) / TEMPERATURE, dim=1)
    logits = network.decoder(torch.cat([continuous, categorical], dim=1))
    reconstruction = PIXELS * F.binary_cross_entropy_with_logits(logits, images)
    kl = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum(dim=1).mean()
    entropy = -(probabilities * torch.log(probabilities + TINY)).sum(dim=1).mean()
    capacity = min(CAPACITY, CAPACITY * step / CAPACITY_STEPS)
    # A categorical unit cannot carry more than the logarithm of its classes.
    capacity_of_classes = min(capacity, math.log(CLASSES))
    return (reconstruction + GAMMA * (capacity - kl).abs()
            + GAMMA * (capacity_of_classes - (math.log(CLASSES) - entropy)).abs())


@torch.no_grad()
def classes_of(network, images):
    return torch.cat([network.classes(network.features(part)).argmax(dim=1) for part in images.split(1000)]).numpy()


def train(images, seed, epochs, initializer, checkpoint):
    torch.manual_seed(seed)
    network = Network(initializer).to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, fused=True)
    step, losses = 0, []
    if checkpoint and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        step, losses = state["step"], state["losses"]
        if len(losses) > epochs:
            raise SystemExit(f"{checkpoint}: found {len(losses)} epochs, expected at most the {epochs} of --epochs")
    while len(losses) < epochs:
        sums = []
        for rows in torch.randperm(len(images)).split(BATCH):
            step += 1
            loss = loss_of(network, images[rows], step)
            optimizer.zero_grad(set_to_none=True)
            # The loss of a pixel, as in the author's code: it decides what Adam's epsilon means.
            (loss / PIXELS).backward()
            optimizer.step()
            sums.append(loss.detach())
        losses.append(torch.stack(sums).mean().item())
        if checkpoint:
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(),
                     "random": torch.get_rng_state(), "step": step, "losses": losses}
            unfinished = checkpoint.with_suffix(".unfinished")
            torch.save(state, unfinished)
            os.replace(unfinished, checkpoint)
    return network, losses


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="JointVAE on MNIST in PyTorch with the set-up of Dupont 2018.")
    parser.add_argument("data", help="directory of the four .gz files of MNIST")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--initializer", choices=INITIALIZERS, default="pytorch-0.4")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="directory of the checkpoints; none are written without")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    train_images, train_digits, test_images, test_digits = read(options.data)
    train_images, test_images = (
        torch.from_numpy(resized(images)).float().unsqueeze(1) for images in (train_images, test_images))
    for seed in options.seeds:
        checkpoint = options.out and options.out / f"{options.initializer}-seed-{seed}.pt"
        network, losses = train(train_images, seed, options.epochs, options.initializer, checkpoint)
        digit = digit_of_class(classes_of(network, train_images), train_digits)
        accuracy = float(np.mean(digit[classes_of(network, test_images)] == test_digits))
        print(json.dumps({"initializer": options.initializer, "seed": seed, "epochs": options.epochs, "accuracy": accuracy,
                          "losses": losses}), flush=True)
