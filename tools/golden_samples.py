"""The objectives with L samples of each posterior (Kingma & Welling 2014, eq. 6 and 7; the thesis, section 3.3), in double
precision: crates/unbraid/tests/golden/samples.json.

    python tools/golden_samples.py > crates/unbraid/tests/golden/samples.json

A linear encoder and decoder on images of four pixels, Bernoulli pixels, and noise that is given. Every mean is a sum over
images and samples, written out; gradients come from complex steps, f'(x) = Im f(x + ih) / h, which are exact to rounding.
Needs nothing but Python.
"""
import cmath
import json
import math
import random
import struct
import sys

PIXELS, UNITS, BATCH, SAMPLES, DATASET = 4, 3, 3, 3, 50
FREEDOM, BETA = 5.0, 4.0
DRAW = random.Random(20261117)


def number(scale):
    """Rounded to single precision, so that both sides start from the same numbers."""
    return struct.unpack("f", struct.pack("f", DRAW.gauss(0.0, scale)))[0]


def layer(state, name, inputs, outputs):
    state[f"{name}.weight"] = ([outputs, inputs], [number(0.6) for _ in range(outputs * inputs)])
    state[f"{name}.bias"] = ([outputs], [number(0.2) for _ in range(outputs)])


def linear(weights, name, values):
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    width = len(values)
    return [sum(weight[row * width + i] * values[i] for i in range(width)) + bias[row] for row in range(len(bias))]


def log_normal(z, mean, log_variance):
    return -0.5 * (math.log(2 * math.pi) + log_variance + (z - mean) ** 2 / cmath.exp(log_variance))


def log_student(z):
    constant = math.lgamma((FREEDOM + 1) / 2) - math.lgamma(FREEDOM / 2) - 0.5 * math.log(FREEDOM * math.pi)
    return constant - (FREEDOM + 1) / 2 * cmath.log(1 + z * z / FREEDOM)


def log_sum(logarithms):
    largest = max(value.real for value in logarithms)
    return largest + cmath.log(sum(cmath.exp(value - largest) for value in logarithms))


def parts(weights, images, noise):
    """Reconstruction, closed KL from N(0, 1), estimated KL from Student's t, and the three parts of beta-TCVAE."""
    means = [linear(weights, "encoder.mean", image) for image in images]
    logs = [linear(weights, "encoder.log_variance", image) for image in images]
    reconstruction = estimated = 0.0
    first = []
    for sample in range(SAMPLES):
        for i, image in enumerate(images):
            e = noise[sample * BATCH + i]
            z = [means[i][u] + cmath.exp(0.5 * logs[i][u]) * e[u] for u in range(UNITS)]
            if sample == 0:
                first.append(z)
            logits = linear(weights, "decoder.fc1", z)
            reconstruction += sum(cmath.log(1 + cmath.exp(l)) - x * l for l, x in zip(logits, image))
            estimated += sum(log_normal(z[u], means[i][u], logs[i][u]) - log_student(z[u]) for u in range(UNITS))
    count = SAMPLES * BATCH
    closed = sum(0.5 * (m * m + cmath.exp(s) - 1 - s) for row, log in zip(means, logs) for m, s in zip(row, log)) / BATCH
    # Minibatch-weighted sampling at the first sample of each image.
    information = correlation = dimension = 0.0
    for i, z in enumerate(first):
        densities = [[log_normal(z[u], means[j][u], logs[j][u]) for u in range(UNITS)] for j in range(BATCH)]
        constant = math.log(DATASET * BATCH)
        joint = log_sum([sum(row) for row in densities]) - constant
        marginals = sum(log_sum([row[u] for row in densities]) - constant for u in range(UNITS))
        prior = sum(log_normal(z[u], 0.0, 0.0) for u in range(UNITS))
        information += (sum(densities[i]) - joint) / BATCH
        correlation += (joint - marginals) / BATCH
        dimension += (marginals - prior) / BATCH
    return {"reconstruction": reconstruction / count, "kl": closed, "kl_from_student": estimated / count,
            "information": information, "correlation": correlation, "dimension": dimension}


OBJECTIVES = {
    "vae": lambda p: p["reconstruction"] + p["kl"],
    "beta-vae": lambda p: p["reconstruction"] + BETA * p["kl_from_student"],
    "beta-tcvae": lambda p: p["reconstruction"] + p["information"] + BETA * p["correlation"] + p["dimension"],
}


def main():
    state = {}
    layer(state, "encoder.mean", PIXELS, UNITS)
    layer(state, "encoder.log_variance", PIXELS, UNITS)
    layer(state, "decoder.fc1", UNITS, PIXELS)
    images = [[abs(number(0.5)) for _ in range(PIXELS)] for _ in range(BATCH)]
    noise = [[number(1.0) for _ in range(UNITS)] for _ in range(SAMPLES * BATCH)]
    plain = {name: values for name, (_, values) in state.items()}
    value = {name: part.real for name, part in parts(plain, images, noise).items()}
    gradients = {name: {} for name in OBJECTIVES}
    step = 1e-30
    for name, values in plain.items():
        slopes = {objective: [] for objective in OBJECTIVES}
        for place in range(len(values)):
            moved = list(values)
            moved[place] += 1j * step
            changed = parts({**plain, name: moved}, images, noise)
            for objective, loss in OBJECTIVES.items():
                slopes[objective].append(loss(changed).imag / step)
        for objective in OBJECTIVES:
            gradients[objective][name] = slopes[objective]
    json.dump({
        "state": {name: {"shape": shape, "values": values} for name, (shape, values) in state.items()},
        "images": images, "noise": noise, "samples": SAMPLES, "dataset_size": DATASET, "beta": BETA,
        "degrees_of_freedom": FREEDOM, **value,
        "objectives": {name: {"loss": loss(value), "gradients": gradients[name]} for name, loss in OBJECTIVES.items()},
    }, sys.stdout)
    print()


main()
