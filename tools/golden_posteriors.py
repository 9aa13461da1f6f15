"""Values and gradients of posteriors and terms in double precision, by PyTorch's own distributions and automatic
differentiation: crates/unbraid/tests/golden/posteriors.json.

    python tools/golden_posteriors.py crates/unbraid/tests/golden/objectives.json > crates/unbraid/tests/golden/posteriors.json

Nothing here shares code or formulas with the project: densities of flows come from the determinant of the whole Jacobian,
those of Gaussians from torch.distributions, f-divergences from their definition as a mean of f(r) / r.

Needs: pip install torch numpy
"""
import json
import sys

import numpy as np
import torch
from torch.distributions import MultivariateNormal, Normal, kl_divergence
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
DRAW = np.random.default_rng(20261117)
IMAGES, PIXELS, UNITS, BATCH = 3, 4, 3, 3


def numbers(*shape, scale=0.6):
    """Rounded to single precision, so that both sides start from the same numbers."""
    return torch.tensor((scale * DRAW.standard_normal(shape)).astype(np.float32).astype(np.float64))


def layer(state, name, inputs, outputs):
    state[f"{name}.weight"] = numbers(outputs, inputs).requires_grad_()
    state[f"{name}.bias"] = numbers(outputs, scale=0.2).requires_grad_()


def linear(state, name, values, mask=None):
    weight = state[f"{name}.weight"]
    return F.linear(values, weight if mask is None else weight * mask, state[f"{name}.bias"])


def plain(tensor):
    return tensor.detach().tolist()


def entry(state, images, noise, z, log_density, loss, extra):
    gradients = torch.autograd.grad(loss, list(state.values()), allow_unused=True)
    return {
        "state": {name: {"shape": list(value.shape), "values": plain(value.flatten())} for name, value in state.items()},
        "images": plain(images), "noise": plain(noise), "z": plain(z),
        "log_density": None if log_density is None else plain(log_density),
        "loss": loss.item(),
        "gradients": {name: plain((torch.zeros_like(value) if gradient is None else gradient).flatten())
                      for (name, value), gradient in zip(state.items(), gradients)},
        **extra,
    }


def decoder(state):
    layer(state, "decoder.fc1", UNITS, PIXELS)


def full_covariance():
    state = {}
    layer(state, "encoder.mean", PIXELS, UNITS)
    layer(state, "encoder.log_variance", PIXELS, UNITS)
    layer(state, "encoder.cholesky", PIXELS, UNITS * UNITS)
    decoder(state)
    images, noise = numbers(IMAGES, PIXELS).abs(), numbers(IMAGES, UNITS, scale=1)
    mean = linear(state, "encoder.mean", images)
    deviation = (0.5 * linear(state, "encoder.log_variance", images)).exp()
    matrix = linear(state, "encoder.cholesky", images).view(IMAGES, UNITS, UNITS)
    factor = torch.tril(matrix, -1) + torch.diag_embed(deviation)
    posterior = MultivariateNormal(mean, scale_tril=factor)
    z = mean + (factor @ noise[:, :, None])[:, :, 0]
    log_density = posterior.log_prob(z)
    prior = MultivariateNormal(torch.zeros(UNITS), torch.eye(UNITS))
    kl = kl_divergence(posterior, prior)
    variances = torch.diagonal(factor @ factor.mT, dim1=1, dim2=2)
    marginals = kl_divergence(Normal(mean, variances.sqrt()), Normal(0.0, 1.0))
    loss = kl.mean() + (z ** 2).sum() + log_density.mean() - posterior.entropy().mean()
    extra = {"kl": plain(kl), "kl_of_units": plain(marginals), "entropy": plain(posterior.entropy()),
             "mean": plain(mean), "variance": plain(variances)}
    return entry(state, images, noise, z, log_density, loss, extra)


def autoregressive_mask(rows, columns, strict):
    """By enumeration of who may see whom, degree by degree."""
    mask = torch.zeros(len(rows), len(columns))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            mask[i, j] = float(column < row if strict else column <= row)
    return mask


def flow(state, base, context, steps, hidden):
    """z of one noise vector; differentiable, so that its Jacobian can be taken as a whole."""
    z = base
    for step in range(steps):
        degrees = list(range(1, UNITS + 1)) + [0] * context.shape[0]
        values = torch.cat([z.flip(0) if step % 2 else z, context])
        ordered = values[:UNITS]
        for number, width in enumerate(hidden, 1):
            own = [place % UNITS for place in range(width)]
            values = F.relu(linear(state, f"encoder.flow.{step}.fc{number}", values,
                                   autoregressive_mask(own, degrees, False)))
            degrees = own
        outputs = autoregressive_mask(list(range(1, UNITS + 1)), degrees, True)
        shift = linear(state, f"encoder.flow.{step}.shift", values, outputs)
        gate = torch.sigmoid(linear(state, f"encoder.flow.{step}.gate", values, outputs) + 1.5)
        z = gate * ordered + (1 - gate) * shift
        z = z.flip(0) if step % 2 else z
    return z


def inverse_autoregressive():
    steps, hidden, context = 3, [7, 5], 2
    state = {}
    layer(state, "encoder.mean", PIXELS, UNITS)
    layer(state, "encoder.log_variance", PIXELS, UNITS)
    layer(state, "encoder.context", PIXELS, context)
    for step in range(steps):
        inputs = UNITS + context
        for number, width in enumerate(hidden, 1):
            layer(state, f"encoder.flow.{step}.fc{number}", inputs, width)
            inputs = width
        layer(state, f"encoder.flow.{step}.shift", inputs, UNITS)
        layer(state, f"encoder.flow.{step}.gate", inputs, UNITS)
    decoder(state)
    images, noise = numbers(IMAGES, PIXELS).abs(), numbers(IMAGES, UNITS, scale=1)
    mean = linear(state, "encoder.mean", images)
    deviation = (0.5 * linear(state, "encoder.log_variance", images)).exp()
    features = F.relu(linear(state, "encoder.context", images))
    z, log_density = [], []
    for image in range(IMAGES):
        def transform(numbers):
            return flow(state, mean[image] + deviation[image] * numbers, features[image], steps, hidden)
        jacobian = torch.autograd.functional.jacobian(transform, noise[image], create_graph=True)
        z.append(transform(noise[image]))
        log_density.append(Normal(0.0, 1.0).log_prob(noise[image]).sum() - torch.linalg.slogdet(jacobian)[1])
    z, log_density = torch.stack(z), torch.stack(log_density)
    kl = log_density - Normal(0.0, 1.0).log_prob(z).sum(1)
    loss = kl.mean() + (z ** 2).sum() + log_density.mean()
    return entry(state, images, noise, z, log_density, loss, {"kl": plain(kl)})


def implicit():
    noises, hidden = 2, [6]
    state = {}
    layer(state, "encoder.noisy.fc1", PIXELS + noises, hidden[0])
    layer(state, "encoder.noisy.z", hidden[0], UNITS)
    decoder(state)
    images, noise = numbers(IMAGES, PIXELS).abs(), numbers(IMAGES, noises, scale=1)
    values = torch.cat([images, noise], 1)
    z = linear(state, "encoder.noisy.z", F.relu(linear(state, "encoder.noisy.fc1", values)))
    return entry(state, images, noise, z, None, (z ** 2).sum(), {})


def f(name, u):
    return {
        "kl": lambda: u * u.log(),
        "reverse-kl": lambda: -u.log(),
        "jensen-shannon": lambda: u * u.log() - (u + 1) * ((u + 1) / 2).log(),
        "pearson": lambda: (u - 1) ** 2,
        "squared-hellinger": lambda: (u.sqrt() - 1) ** 2,
    }[name]()


def terms(golden):
    """On the batch of objectives.json."""
    mean = torch.tensor(golden["mean"]).requires_grad_()
    log_variance = torch.tensor(golden["log_variance"]).requires_grad_()
    deviation = (0.5 * log_variance).exp()
    z = mean + deviation * torch.tensor(golden["noise"])
    prior_sample = torch.tensor(golden["prior_samples_normal"])
    count, images = len(mean), golden["dataset_size"]
    conditional = Normal(mean[None], deviation[None]).log_prob(z[:, None]).sum(2)  # [sample, posterior]
    of_prior = Normal(0.0, 1.0).log_prob(z).sum(1)
    values = {"negative_entropy": -Normal(mean, deviation).entropy().sum(1).mean()}
    # Mathieu et al. 2019, eq. 10b, as it is printed.
    others = conditional.exp() * (1 - torch.eye(count))
    estimate = torch.diagonal(conditional).exp() / images + (images - 1) / (images * (count - 1)) * others.sum(1)
    values["exclusive_kl_stratified"] = (estimate.log() - of_prior).mean()
    ratio = conditional.exp().mean(1) / of_prior.exp()
    for name in ["kl", "reverse-kl", "jensen-shannon", "pearson", "squared-hellinger"]:
        values[f"random_mixture_{name}"] = (f(name, ratio) / ratio).mean()
    # On a line the transport pairs values by rank; the first unit alone.
    first = torch.sort(z[:, 0])[0] - torch.sort(prior_sample[:, 0])[0]
    values["wasserstein_of_first_unit"] = (first ** 2).mean()
    result = {}
    for name, value in values.items():
        of_mean, of_log_variance = torch.autograd.grad(value, [mean, log_variance], retain_graph=True, allow_unused=True)
        of_mean = torch.zeros_like(mean) if of_mean is None else of_mean
        result[name] = {"value": value.item(), "grad_mean": plain(of_mean),
                        "grad_log_variance": plain(of_log_variance)}
    return result


def adversarial(golden):
    """T(x, z) with given weights on the batch of objectives.json, and images of four pixels."""
    mean = torch.tensor(golden["mean"]).requires_grad_()
    log_variance = torch.tensor(golden["log_variance"]).requires_grad_()
    count, units = mean.shape
    images, features, width = numbers(count, 4).abs(), 3, 5
    state = {}
    layer(state, "discriminator.image1", 4, features)
    layer(state, "discriminator.image2", features, features)
    layer(state, "discriminator.fc1", features + units, width)
    layer(state, "discriminator.logits", width, 2)

    def contrast(z):
        values = images
        for name in ["image1", "image2"]:
            values = F.leaky_relu(linear(state, f"discriminator.{name}", values), 0.2)
        values = F.leaky_relu(linear(state, "discriminator.fc1", torch.cat([values, z], 1)), 0.2)
        logits = linear(state, "discriminator.logits", values)
        return logits[:, 0] - logits[:, 1]

    deviation = (0.5 * log_variance).exp()
    z = mean + deviation * torch.tensor(golden["noise"])
    prior = torch.tensor(golden["prior_samples_normal"])[:count]
    plain_value = contrast(z).mean()
    targets = torch.cat([torch.ones(count), torch.zeros(count)])
    entropy = F.binary_cross_entropy_with_logits(torch.cat([contrast(z), contrast(prior)]), targets)
    reference = Normal(mean.detach(), deviation.detach())
    normalised = (z - mean.detach()) / deviation.detach()
    adaptive = (contrast(normalised) + reference.log_prob(z).sum(1) - Normal(0.0, 1.0).log_prob(z).sum(1)).mean()
    result = {"state": {name: {"shape": list(value.shape), "values": plain(value.flatten())}
                        for name, value in state.items()},
              "images": plain(images), "cross_entropy": entropy.item()}
    for name, value in [("plain", plain_value), ("adaptive", adaptive)]:
        of_mean, of_log_variance = torch.autograd.grad(value, [mean, log_variance], retain_graph=True)
        result[name] = {"value": value.item(), "grad_mean": plain(of_mean), "grad_log_variance": plain(of_log_variance)}
    return result


def main():
    golden = json.load(open(sys.argv[1]))
    result = {"posteriors": {"full-covariance": full_covariance(), "iaf": inverse_autoregressive(),
                             "implicit": implicit()},
              "terms": terms(golden), "adversarial_kl": adversarial(golden)}
    json.dump(result, sys.stdout)
    print()


main()
