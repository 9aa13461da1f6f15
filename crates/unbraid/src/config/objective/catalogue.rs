//! The methods and terms in words, for `unbraid objectives`.

/// A method or a term in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Its name in configurations.
    pub name: &'static str,
    /// What is minimised, or what the term computes.
    pub formula: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// A table with all of its options, at their defaults where they have some.
    pub example: &'static str,
}

const fn entry(
    name: &'static str,
    formula: &'static str,
    source: &'static str,
    example: &'static str,
) -> CatalogueEntry {
    CatalogueEntry { name, formula, source, example }
}

macro_rules! discriminator {
    () => {
        "{ layers = 6, width = 1000, learning_rate = 1e-4, beta1 = 0.5, beta2 = 0.9, epsilon = 1e-8, leak = 0.2 }"
    };
}

macro_rules! contrast {
    () => {
        "{ features = 256, layers = 2, width = 512, updates = 1, samples = 16, learning_rate = 1e-4, beta1 = 0.5, \
         beta2 = 0.999, epsilon = 1e-8, leak = 0.2 }"
    };
}

macro_rules! mmd {
    () => {
        "kernel = \"imq\", scales = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0], per_unit = false"
    };
}

/// Every method, the simplest first.
pub const METHODS: [CatalogueEntry; 20] = [
    entry(
        "autoencoder",
        "reconstruction from the posterior mean",
        "a baseline",
        "{ name = \"autoencoder\" }",
    ),
    entry("vae", "reconstruction + KL", "Kingma & Welling 2014, eq. 10", "{ name = \"vae\", samples = 1 }"),
    entry(
        "beta-vae",
        "reconstruction + beta KL",
        "Higgins et al. 2017, eq. 4",
        "{ name = \"beta-vae\", beta = 4.0, samples = 1 }",
    ),
    entry(
        "annealed-vae",
        "reconstruction + gamma |KL - capacity|",
        "Burgess et al. 2018, eq. 8",
        "{ name = \"annealed-vae\", gamma = 1000.0, capacity = { from = 0.0, to = 25.0, start = 0, end = \
         100000 }, samples = 1 }",
    ),
    entry(
        "joint-vae",
        "reconstruction + gamma_continuous |KL of the continuous units - capacity_continuous| + gamma_categorical |KL of \
         the categorical units - capacity_categorical|",
        "Dupont 2018, eq. 7",
        "{ name = \"joint-vae\", gamma_continuous = 30.0, capacity_continuous = 5.0, gamma_categorical = 30.0, \
         capacity_categorical = 5.0, samples = 1 }",
    ),
    entry(
        "beta-tcvae",
        "reconstruction + alpha mutual information + beta total correlation + gamma dimension-wise KL",
        "Chen et al. 2018, eq. 4",
        "{ name = \"beta-tcvae\", alpha = 1.0, beta = 6.0, gamma = 1.0, estimator = \"mss\", kl = \"estimated\", samples = \
         1 }",
    ),
    entry(
        "factor-vae",
        "reconstruction + KL + gamma total correlation, which a discriminator estimates",
        "Kim & Mnih 2018, eq. 2",
        concat!(
            "{ name = \"factor-vae\", gamma = 35.0, discriminator_batch = \"second\", discriminator = ",
            discriminator!(),
            ", samples = 1 }"
        ),
    ),
    entry(
        "dip-vae-i",
        "reconstruction + KL + lambda_od squares off the diagonal of the covariance of the posterior means + lambda_d \
         squared distances of its diagonal from one + lambda_3 squared third moments",
        "Kumar et al. 2018, eq. 6",
        "{ name = \"dip-vae-i\", lambda_od = 10.0, lambda_d = 100.0, lambda_3 = 0.0, running_decay = 0.0, samples = 1 }",
    ),
    entry(
        "dip-vae-ii",
        "the same with the covariance of the aggregate posterior",
        "Kumar et al. 2018, eq. 7",
        "{ name = \"dip-vae-ii\", lambda_od = 10.0, lambda_d = 10.0, lambda_3 = 0.0, running_decay = 0.0, samples = 1 }",
    ),
    entry(
        "decomposition",
        "reconstruction + beta KL + alpha divergence of the aggregate posterior from the prior",
        "Mathieu et al. 2019, eq. 7",
        concat!(
            "{ name = \"decomposition\", alpha = 10.0, beta = 1.0, divergence = { name = \"mmd\", ",
            mmd!(),
            " }, samples = 1 }"
        ),
    ),
    entry(
        "max-entropy",
        "reconstruction + KL - (beta - 1) entropy of the posterior",
        "Mathieu et al. 2019, eq. 5",
        "{ name = \"max-entropy\", beta = 4.0, samples = 1 }",
    ),
    entry(
        "info-vae",
        "reconstruction + (1 - alpha) KL + (alpha + lambda - 1) maximum mean discrepancy",
        "Zhao et al. 2017, section 3",
        concat!("{ name = \"info-vae\", alpha = 0.0, lambda = 10.0, mmd = { ", mmd!(), " }, samples = 1 }"),
    ),
    entry(
        "wae-mmd",
        "reconstruction + lambda maximum mean discrepancy",
        "Tolstikhin et al. 2018, algorithm 2",
        concat!(
            "{ name = \"wae-mmd\", lambda = 10.0, encoder = \"deterministic\", mmd = { ",
            mmd!(),
            " }, samples = 1 }"
        ),
    ),
    entry(
        "wae-gan",
        "reconstruction + lambda adversarial loss",
        "Tolstikhin et al. 2018, algorithm 1",
        concat!(
            "{ name = \"wae-gan\", lambda = 10.0, encoder = \"deterministic\", generator_loss = \"non-saturating\", ",
            "discriminator = ",
            discriminator!(),
            ", samples = 1 }"
        ),
    ),
    entry(
        "aae",
        "reconstruction + lambda adversarial loss + kl KL",
        "Makhzani et al. 2015; Mushom 2020, section 4.3",
        concat!(
            "{ name = \"aae\", lambda = 1.0, kl = 0.0, encoder = \"gaussian\", generator_loss = \"non-saturating\", ",
            "discriminator = ",
            discriminator!(),
            ", samples = 1 }"
        ),
    ),
    entry(
        "iwae",
        "minus the importance-weighted bound of ln p(x) with this many samples",
        "Burda et al. 2016, eq. 8",
        "{ name = \"iwae\", samples = 5 }",
    ),
    entry(
        "avb",
        "reconstruction + beta KL, which a discriminator of images and codes estimates",
        "Mescheder et al. 2017, algorithm 1",
        concat!(
            "{ name = \"avb\", beta = 1.0, adaptive_contrast = false, discriminator = ",
            contrast!(),
            ", samples = 1 }"
        ),
    ),
    entry(
        "composed",
        "reconstruction + any weighted terms, listed below",
        "Mushom 2020, section 4.3",
        "{ name = \"composed\", terms = [{ name = \"kl\", weight = 1.0 }, { name = \"total-correlation\", weight = 4.0, \
         estimator = \"mws\" }], encoder = \"gaussian\", samples = 1 }",
    ),
    entry(
        "pca",
        "probabilistic principal components, fitted in one step",
        "Tipping & Bishop 1999",
        "{ name = \"pca\", images = 10000 }",
    ),
    entry(
        "ica",
        "independent components among the principal ones, fitted in one step",
        "Hyvarinen 1999",
        "{ name = \"ica\", images = 10000 }",
    ),
];

/// Every term, those of one posterior first, then those of the aggregate posterior.
pub const TERMS: [CatalogueEntry; 22] = [
    entry(
        "kl",
        "KL(q(z, c|x) || p(z) p(c)), mean over the batch",
        "Kingma & Welling 2014, eq. 10",
        "{ name = \"kl\", weight = 1.0 }",
    ),
    entry(
        "kl-from-capacity",
        "|KL - capacity|",
        "Burgess et al. 2018, eq. 8",
        "{ name = \"kl-from-capacity\", weight = 1000.0, capacity = 25.0 }",
    ),
    entry(
        "continuous-kl-from-capacity",
        "|KL of the continuous units - capacity|",
        "Dupont 2018, eq. 7",
        "{ name = \"continuous-kl-from-capacity\", weight = 30.0, capacity = 5.0 }",
    ),
    entry(
        "categorical-kl-from-capacity",
        "|KL of the categorical units - capacity|",
        "Dupont 2018, eq. 7",
        "{ name = \"categorical-kl-from-capacity\", weight = 30.0, capacity = 5.0 }",
    ),
    entry(
        "negative-entropy",
        "-H[q(z|x)], mean over the batch",
        "Mathieu et al. 2019, eq. 5",
        "{ name = \"negative-entropy\", weight = 3.0 }",
    ),
    entry(
        "iwae-kl",
        "minus the importance-weighted bound, minus the reconstruction",
        "Burda et al. 2016, eq. 8",
        "{ name = \"iwae-kl\", weight = 1.0 }",
    ),
    entry(
        "adversarial-kl",
        "KL(q(z|x) || p(z)), estimated by a discriminator of images and codes",
        "Mescheder et al. 2017, algorithm 1",
        concat!(
            "{ name = \"adversarial-kl\", weight = 1.0, adaptive_contrast = false, discriminator = ",
            contrast!(),
            " }"
        ),
    ),
    entry(
        "mutual-information",
        "mean of ln q(z|x) - ln q(z)",
        "Chen et al. 2018, eq. 2",
        "{ name = \"mutual-information\", weight = 1.0, estimator = \"mss\" }",
    ),
    entry(
        "total-correlation",
        "mean of ln q(z) - sum over units of ln q(z_j)",
        "Chen et al. 2018, eq. 2",
        "{ name = \"total-correlation\", weight = 4.0, estimator = \"mss\" }",
    ),
    entry(
        "dimension-wise-kl",
        "mean of sum over units of ln q(z_j) - ln p(z)",
        "Chen et al. 2018, eq. 2",
        "{ name = \"dimension-wise-kl\", weight = 1.0, estimator = \"mss\" }",
    ),
    entry(
        "discriminated-total-correlation",
        "the total correlation, estimated by a discriminator; logged as total_correlation",
        "Kim & Mnih 2018, eq. 3",
        concat!(
            "{ name = \"discriminated-total-correlation\", weight = 35.0, discriminator_batch = \"second\", ",
            "discriminator = ",
            discriminator!(),
            " }"
        ),
    ),
    entry(
        "covariance-off-diagonal",
        "sum of the squared covariances of different units",
        "Kumar et al. 2018, eq. 6 and 7",
        "{ name = \"covariance-off-diagonal\", weight = 10.0, of = \"samples\", running_decay = 0.0 }",
    ),
    entry(
        "covariance-diagonal",
        "sum of the squared distances of the units' variances from one",
        "Kumar et al. 2018, eq. 6 and 7",
        "{ name = \"covariance-diagonal\", weight = 10.0, of = \"samples\", running_decay = 0.0 }",
    ),
    entry(
        "third-moment",
        "sum of the squared third central moments of q(z)",
        "Kumar et al. 2018, section 2.2",
        "{ name = \"third-moment\", weight = 20.0 }",
    ),
    entry(
        "mmd",
        "squared maximum mean discrepancy of q(z) and p(z)",
        "Gretton et al. 2012, eq. 3",
        concat!("{ name = \"mmd\", weight = 10.0, ", mmd!(), " }"),
    ),
    entry(
        "inclusive-kl",
        "KL(p(z) || q(z)) with the mixture of the batch as q(z)",
        "Mathieu et al. 2019, appendix B",
        "{ name = \"inclusive-kl\", weight = 1.0 }",
    ),
    entry(
        "exclusive-kl",
        "KL(q(z) || p(z)): mean of ln q(z) - ln p(z)",
        "Mathieu et al. 2019, eq. 10",
        "{ name = \"exclusive-kl\", weight = 1.0, estimator = \"stratified\" }",
    ),
    entry(
        "moments",
        "squared differences of mean and covariance between q(z) and p(z)",
        "Kumar et al. 2018, section 2.2",
        "{ name = \"moments\", weight = 1.0 }",
    ),
    entry(
        "adversarial",
        "the encoder's loss against a discriminator of samples of q(z) and p(z)",
        "Makhzani et al. 2015; Tolstikhin et al. 2018",
        concat!(
            "{ name = \"adversarial\", weight = 10.0, generator_loss = \"non-saturating\", discriminator = ",
            discriminator!(),
            " }"
        ),
    ),
    entry(
        "f-divergence",
        "D_f(q(z) || p(z)) from below, by a discriminator; f is kl, reverse-kl, jensen-shannon, pearson or \
         squared-hellinger",
        "Nowozin et al. 2016, eq. 4; Mushom 2020, eq. 2.2",
        concat!(
            "{ name = \"f-divergence\", weight = 1.0, divergence = \"kl\", discriminator = ",
            discriminator!(),
            " }"
        ),
    ),
    entry(
        "random-mixture",
        "D_f(q(z) || p(z)) with the mixture of the batch as q(z); f as above",
        "Rubenstein et al. 2019, eq. 3",
        "{ name = \"random-mixture\", weight = 1.0, divergence = \"kl\" }",
    ),
    entry(
        "sliced-wasserstein",
        "squared Wasserstein-2 distance of q(z) and p(z), mean over random directions",
        "Kolouri et al. 2018, eq. 9",
        "{ name = \"sliced-wasserstein\", weight = 10.0, projections = 50 }",
    ),
];
