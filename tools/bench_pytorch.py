"""One Adam step of a beta-VAE in PyTorch on the CPU, for `cargo xtask bench train --torch PYTHON`.

Prints one JSON object: for each mode the milliseconds of a step, the best of several rounds, or why the mode failed.

    python tools/bench_pytorch.py --network conv --size 64 --channels 1 --threads 2 --modes eager,channels_last

Needs: pip install torch
"""
import argparse
import json
import time

import torch
from torch import nn
from torch.nn import functional as F

HALVE = dict(kernel_size=4, stride=2, padding=1)
LATENTS = 10


def contracting(widths, channels, small=()):
    """Convolutions that halve an image, with ReLU; those at the places `small` have kernels of 2 x 2."""
    layers = []
    for place, width in enumerate(widths):
        kernel = dict(kernel_size=2, stride=2) if place in small else HALVE
        layers += [nn.Conv2d(channels, width, **kernel), nn.ReLU()]
        channels = width
    return layers


def expanding(widths, channels):
    """Transposed convolutions that double an image, with ReLU but for the last."""
    layers = []
    for width in widths:
        layers += [nn.ConvTranspose2d(channels, width, **HALVE), nn.ReLU()]
        channels = width
    return layers[:-1]


def connected(*widths):
    """Fully connected layers with ReLU."""
    return [part for pair in zip(widths, widths[1:]) for part in (nn.Linear(*pair), nn.ReLU())]


def conv(size, channels, encoder=(32, 32, 64, 64), decoder=(64, 32, 32), small=()):
    """`conv`, `dlib` and `dupont-32`: one hidden layer of 256 units on each side."""
    side = size // 2 ** len(encoder)
    values = encoder[-1] * side**2
    encoding = [*contracting(encoder, channels, small), nn.Flatten(), *connected(values, 256),
                nn.Linear(256, 2 * LATENTS)]
    decoding = [*connected(LATENTS, 256, values), nn.Unflatten(1, (encoder[-1], side, side)),
                *expanding([*decoder, channels], encoder[-1])]
    return nn.Sequential(*encoding), nn.Sequential(*decoding)


def burgess(size, channels, width=32, hidden=256):
    """Four layers of equal width and two hidden layers on each side."""
    side, depth = size // 16, 4
    values = width * side**2
    encoding = [*contracting([width] * depth, channels), nn.Flatten(), *connected(values, hidden, hidden),
                nn.Linear(hidden, 2 * LATENTS)]
    decoding = [*connected(LATENTS, hidden, hidden, values), nn.Unflatten(1, (width, side, side)),
                *expanding([width] * (depth - 1) + [channels], width)]
    return nn.Sequential(*encoding), nn.Sequential(*decoding)


NETWORKS = {
    "conv": conv,
    "dlib": lambda size, channels: conv(size, channels, small=(2, 3)),
    "dupont-32": lambda size, channels: conv(size, channels, encoder=(32, 64, 64), decoder=(32, 32)),
    "burgess": burgess,
    "narrow": lambda size, channels: burgess(size, channels, width=16, hidden=128),
}


def measure(mode, options):
    """Milliseconds of a step in the best round."""
    torch.manual_seed(0)
    network = nn.ModuleList(NETWORKS[options.network](options.size, options.channels))
    images = (torch.rand(options.batch, options.channels, options.size, options.size) > 0.9).float()
    if mode == "channels_last":
        network = network.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    encoder, decoder = network
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)

    def loss_of(batch):
        mean, log_variance = encoder(batch).chunk(2, dim=1)
        units = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        logits = decoder(units)
        reconstruction = F.binary_cross_entropy_with_logits(logits, batch, reduction="sum")
        kl = (mean**2 + log_variance.exp() - log_variance - 1).sum() / 2
        return (reconstruction + 4 * kl) / options.batch

    loss_function = torch.compile(loss_of) if mode == "compile" else loss_of

    def step():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mode == "bf16"):
            loss = loss_function(images)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    for _ in range(8):
        step()
    best = float("inf")
    for _ in range(options.rounds):
        start = time.perf_counter()
        for _ in range(options.steps):
            step()
        best = min(best, time.perf_counter() - start)
    return 1000 * best / options.steps


def attempt(mode, options):
    try:
        return {"best_ms": measure(mode, options)}
    except Exception as error:  # Compilers, and instructions that are missing, fail in many ways.
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=NETWORKS, default="conv")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--modes", default="eager,channels_last,bf16,compile")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    modes = {mode: attempt(mode, options) for mode in options.modes.split(",")}
    print(json.dumps({"torch": torch.__version__, "modes": modes}))


if __name__ == "__main__":
    main()
