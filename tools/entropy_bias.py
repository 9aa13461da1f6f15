"""The bias of the entropy estimate of Mathieu et al. 2019, appendix C, eq. 10, in NumPy: the table of docs/objectives.md.

Codes are such that q(z) = N(0, I), whose entropy is D/2 (1 + ln 2 pi). Each estimate is a mean over 8192 codes in batches,
as if drawn from 737,280 images.

    python tools/entropy_bias.py

Needs: pip install numpy
"""
import math

import numpy as np

IMAGES = 737_280


def estimate(draw, units, noise, batch):
    means = draw.standard_normal((batch, units)) * math.sqrt(1 - noise * noise)
    codes = means + noise * draw.standard_normal((batch, units))
    distances = ((codes[:, None] - means[None]) ** 2).sum(2) / noise**2
    densities = np.exp(-distances / 2) / (noise * math.sqrt(2 * math.pi)) ** units
    own = np.diagonal(densities)
    others = densities.sum(1) - own
    return -np.log(own / IMAGES + (IMAGES - 1) / (IMAGES * (batch - 1)) * others).mean()


def main():
    draw = np.random.default_rng(1)
    print("| units | posterior standard deviation | H[q(z)] | batch | estimate | ln N + E H[q(z\\|x)] |")
    print("|---|---|---|---|---|---|")
    for units, noise in [(2, 0.5), (4, 0.3), (10, 0.3), (10, 0.1)]:
        exact = 0.5 * units * (1 + math.log(2 * math.pi))
        biased = math.log(IMAGES) + exact + units * math.log(noise)
        for batch in [64, 256, 1024]:
            mean = np.mean([estimate(draw, units, noise, batch) for _ in range(8192 // batch)])
            print(f"| {units} | {noise} | {exact:.2f} | {batch} | {mean:.2f} | {biased:.2f} |")


if __name__ == "__main__":
    main()
