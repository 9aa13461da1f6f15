"""Data sets with known factors of variation.

>>> data = load("scenes")
>>> images, factors = data.sample(64, seed=0)
>>> images, factors = data.sample(64, fixed="scale", seed=0)    # an intervention: all have the same scale
"""

from ._native import Dataset, load
from ._native import list_datasets as names

__all__ = ["Dataset", "load", "names"]
