"""Principal components that a Bernoulli VAE would encode, and the factors that explain them.

Locally, such a VAE encodes the principal components of its images divided by sqrt(p (1 - p)), with the mean image p, and a
component is encoded if its variance exceeds beta (Lucas et al. 2019; Rolinek et al. 2019). This prints the largest variances,
and the share of each component's values that every factor explains by itself; the rest are interactions.

    unbraid data convert "scenes(shape=cylinder, size=32)" -o scenes.npz
    python tools/factor_components.py scenes.npz

Needs: pip install numpy
"""
import sys

import numpy as np

from separated_factors import explained

IMAGES, COMPONENTS = 2000, 8


def main():
    arrays = np.load(sys.argv[1])
    rows = np.sort(np.random.default_rng(0).choice(len(arrays["factors"]), IMAGES, replace=False))
    images = arrays["images"][rows].reshape(IMAGES, -1) / 255.0
    factors, names = arrays["factors"][rows], [str(name) for name in arrays["factor_names"]]
    mean = images.mean(axis=0)
    inside = np.clip(mean, 0.02, 0.98)
    scaled = (images - mean) / np.sqrt(inside * (1 - inside))
    variances, components = np.linalg.eigh(scaled @ scaled.T / IMAGES)
    print("variance" + "".join(f"{name:>13}" for name in names))
    for place in range(1, COMPONENTS + 1):
        shares = [explained(components[:, -place], column) for column in factors.T]
        print(f"{variances[-place]:8.1f}" + "".join(f"{share:13.2f}" for share in shares))


if __name__ == "__main__":
    main()
