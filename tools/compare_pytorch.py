"""Trains `conv` as a beta-VAE in PyTorch, for docs/reproductions.md: the same loss as unbraid, for the same configuration.

Prints one JSON object for each seed: reconstruction and KL in nats, means over the last 100 steps.

    python tools/compare_pytorch.py dsprites.npz --seeds 0 1 2

Needs: pip install torch numpy
"""
import argparse
import json
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Network(nn.Module):
    """PyTorch's default initialisation, and the names of unbraid's checkpoints."""

    def __init__(self, latents):
        super().__init__()
        encoder = {"conv1": nn.Conv2d(1, 32, 4, 2, 1), "conv2": nn.Conv2d(32, 32, 4, 2, 1),
                   "conv3": nn.Conv2d(32, 64, 4, 2, 1), "conv4": nn.Conv2d(64, 64, 4, 2, 1),
                   "fc1": nn.Linear(1024, 256),
                   "mean": nn.Linear(256, latents), "log_variance": nn.Linear(256, latents)}
        decoder = {"fc1": nn.Linear(latents, 256), "fc2": nn.Linear(256, 1024),
                   "deconv1": nn.ConvTranspose2d(64, 64, 4, 2, 1), "deconv2": nn.ConvTranspose2d(64, 32, 4, 2, 1),
                   "deconv3": nn.ConvTranspose2d(32, 32, 4, 2, 1), "deconv4": nn.ConvTranspose2d(32, 1, 4, 2, 1)}
        self.encoder, self.decoder = nn.ModuleDict(encoder), nn.ModuleDict(decoder)

    def encode(self, images):
        for name in ["conv1", "conv2", "conv3", "conv4"]:
            images = F.relu(self.encoder[name](images))
        hidden = F.relu(self.encoder["fc1"](images.flatten(1)))
        return self.encoder["mean"](hidden), self.encoder["log_variance"](hidden)

    def decode(self, units):
        hidden = F.relu(self.decoder["fc2"](F.relu(self.decoder["fc1"](units))))
        images = hidden.view(-1, 64, 4, 4)
        for name in ["deconv1", "deconv2", "deconv3"]:
            images = F.relu(self.decoder[name](images))
        return self.decoder["deconv4"](images)


def run(images, seed, options):
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    network = Network(options.latents).to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(network.parameters(), lr=options.learning_rate)
    start, last = time.perf_counter(), []
    for step in range(options.steps):
        rows = images[draw.integers(0, len(images), options.batch)]
        batch = torch.from_numpy(np.unpackbits(rows, axis=1)).float().view(-1, 1, 64, 64)
        mean, log_variance = network.encode(batch)
        units = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        logits = network.decode(units)
        reconstruction = F.binary_cross_entropy_with_logits(logits, batch, reduction="sum") / options.batch
        kl = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum() / options.batch
        optimizer.zero_grad(set_to_none=True)
        (reconstruction + options.beta * kl).backward()
        optimizer.step()
        if step >= options.steps - 100:
            last.append((reconstruction.item(), kl.item()))
    reconstruction, kl = np.mean(last, axis=0)
    return {"seed": seed, "reconstruction": reconstruction, "kl": kl, "seconds": time.perf_counter() - start}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", help="dSprites as .npz")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--latents", type=int, default=10)
    parser.add_argument("--beta", type=float, default=4.0)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with np.load(options.data) as archive:
        # Eight pixels a byte: all images take 377 MB.
        images = archive["imgs"]
        images = np.packbits(images.reshape(len(images), -1) != 0, axis=1)
    for seed in options.seeds:
        print(json.dumps(run(images, seed, options)), flush=True)
