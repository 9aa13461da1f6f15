//! 300 steps on a reduced `shapes`: adversaries and capacities do to the code what they are for. And
//! adversarial posteriors of four points.
use crate::gaussians::floats;
use burn::tensor::{Tensor, TensorData};
use ndarray::{Array2, Axis};
use unbraid::config::{Config, Source};
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::data::storage::{ByteImages, Pixels};
use unbraid::data::{DataSet, Fingerprint, ImageShape, StoredImages, open};
use unbraid::metrics::Unlabelled;
use unbraid::metrics::scores::gaussian_total_correlation;
use unbraid::model::{NoiseSource, Pass, Posterior, read_state, write_state};
use unbraid::train::Trainer;

/// Three shapes at 8 x 8 places, and a network of a few milliseconds a step.
const REDUCED: [&str; 4] = [
    "data={ name = \"shapes\", scales = 1, orientations = 1, positions = 8 }",
    "model.architecture={ name = \"mlp\", encoder = [64], decoder = [64] }",
    "optimizer.learning_rate=2e-3",
    "training.batch_size=64",
];

const SMALL: &str = "discriminator = { layers = 2, width = 64, learning_rate = 1e-3 }";

fn config(latents: &str, objective: &str) -> Config {
    let more = [format!("model.latents={{ {latents} }}"), format!("objective={{ {objective} }}")];
    let assignments = REDUCED.map(str::to_owned).into_iter().chain(more).collect();
    Source { assignments, ..Source::default() }.resolve().unwrap()
}

/// The posteriors of all images after 300 steps.
fn trained(latents: &str, objective: &str) -> Posterior {
    let config = config(latents, objective);
    let data = open(&config.data, &Silent).unwrap();
    let mut trainer = Trainer::new(&config, data.as_ref(), &unbraid::Device::cpu()).unwrap();
    for _ in 0..300 {
        trainer.advance().unwrap();
    }
    posteriors(&trainer, data.as_ref())
}

fn posteriors(trainer: &Trainer<'_>, data: &dyn DataSet) -> Posterior {
    let (shape, indices) = (data.shape(), (0..data.len()).collect::<Vec<_>>());
    let mut pixels = vec![0.0; indices.len() * shape.values()];
    data.write_batch_parallel(&indices, Stream::new(0, "pixels").at(0), &mut pixels).unwrap();
    let dimensions = [indices.len(), shape.height, shape.width, shape.channels];
    let images = Tensor::from_data(TensorData::new(pixels, dimensions), trainer.network().device());
    trainer.network().encode(images, &mut Pass::Inference)
}

fn array(tensor: Tensor<2>) -> Array2<f64> {
    let [rows, columns] = tensor.dims();
    let values: Vec<f32> = tensor.inner().into_data().try_into_vec().unwrap();
    Array2::from_shape_vec((rows, columns), values.into_iter().map(f64::from).collect()).unwrap()
}

/// Several samples of every posterior.
fn samples(posterior: &Posterior) -> Array2<f64> {
    let posterior = posterior.repeated(16);
    array(posterior.sample(NoiseSource::new(1, "samples").at(0, &posterior), 1.0).continuous)
}

/// Eight units for three factors share much of what they say unless something keeps them apart. The measure knows
/// nothing of the discriminator: the total correlation of a Gaussian with the covariance of the samples. The same run
/// without the term is the one with the weight zero.
#[test]
fn the_total_correlation_falls_under_factor_vae() {
    let correlation = |gamma: f64| {
        let posterior =
            trained("continuous = 8", &format!("name = \"factor-vae\", gamma = {gamma}, {SMALL}"));
        gaussian_total_correlation(&Unlabelled::new(samples(&posterior).view()).unwrap())
    };
    let (without, with) = (correlation(0.0), correlation(30.0));
    assert!(without > 0.5 && with < 0.75 * without, "{without} {with}");
}

/// Far from a standard normal without the term: means and spreads of an autoencoder's code are its own choice.
#[test]
fn the_aggregate_posterior_approaches_the_prior_under_wae_gan() {
    let distance = |lambda: f64| {
        let objective = format!("name = \"wae-gan\", lambda = {lambda}, {SMALL}");
        let code = array(trained("continuous = 4", &objective).mean().continuous);
        let (mean, variance) = (code.mean_axis(Axis(0)).unwrap(), code.var_axis(Axis(0), 0.0));
        // KL of Gaussians with these moments from the standard normal, summed over units.
        mean.iter().zip(variance.iter()).map(|(m, v)| 0.5 * (m * m + v - v.ln() - 1.0)).sum::<f64>()
    };
    let (without, with) = (distance(0.0), distance(100.0));
    assert!(with < 0.25 * without && with < 1.0, "{without} {with}");
}

#[test]
fn divergences_arrive_at_their_capacities_under_joint_vae() {
    let posterior = trained(
        "continuous = 4, categorical = [3]",
        "name = \"joint-vae\", gamma_continuous = 100, capacity_continuous = { from = 0, to = 6, end = 150 }, \
         gamma_categorical = 100, capacity_categorical = { from = 0, to = 0.5, end = 150 }",
    );
    let continuous = array(posterior.continuous.moments().divergence_from_standard_normal());
    let continuous = continuous.sum() / continuous.nrows() as f64;
    let categorical = posterior.categorical[0].divergence_from_uniform().mean();
    let categorical = f64::from(categorical.inner().into_data().try_into_vec::<f32>().unwrap()[0]);
    assert!((continuous - 6.0).abs() < 0.6, "{continuous}");
    assert!((categorical - 0.5).abs() < 0.1, "{categorical}");
}

/// A trainer that was written to files and read again goes on as the one that was not, to the last bit.
#[test]
fn any_mixture_of_units_survives_a_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    for (latents, objective) in [
        ("continuous = 0, categorical = [4]", "name = \"vae\""),
        ("continuous = 2, categorical = [4]", "name = \"autoencoder\""),
    ] {
        let config = config(latents, objective);
        let data = open(&config.data, &Silent).unwrap();
        let start = || Trainer::new(&config, data.as_ref(), &unbraid::Device::cpu()).unwrap();
        let mut whole = start();
        for _ in 0..4 {
            whole.advance().unwrap();
        }
        let files = ["weights", "state"].map(|name| directory.path().join(name));
        for (path, state) in files.iter().zip([whole.weights(), whole.state()]) {
            std::fs::write(path, write_state(&state, "").unwrap()).unwrap();
        }
        let mut resumed = start();
        let [weights, state] = files.map(|path| read_state(&path).unwrap().0);
        resumed.restore(4, weights, state).unwrap();
        for _ in 0..4 {
            assert_eq!(resumed.advance().unwrap(), whole.advance().unwrap(), "{objective}");
        }
        assert!(resumed.network().state() == whole.network().state(), "{objective}");
        assert!(resumed.state() == whole.state(), "{objective}");
    }
}

/// Mescheder et al. 2017, section 6.1: four images of 2 x 2 pixels, each with one of them set, and two latent units.
fn four_points() -> StoredImages {
    let bytes = (0..4 * 4 * 16).map(|at| if at / 4 % 4 == at % 4 { 255 } else { 0 }).collect();
    let pixels = Pixels::Bytes(ByteImages::in_memory(4, bytes));
    let recipe = Fingerprint::Recipe("four points".to_owned());
    StoredImages::new("four points", ImageShape::new(2, 2, 1), pixels, None, recipe)
}

/// ln p(x) of the four images, mean, by a sum over a grid of the latent plane.
fn evidence(trainer: &Trainer<'_>) -> f64 {
    const POINTS: usize = 101;
    let place = |at: usize| -5.0 + 10.0 * at as f32 / (POINTS - 1) as f32;
    let grid: Vec<f32> =
        (0..POINTS * POINTS).flat_map(|at| [place(at / POINTS), place(at % POINTS)]).collect();
    let device = trainer.network().device();
    let z = Tensor::<2>::from_data(TensorData::new(grid, [POINTS * POINTS, 2]), device);
    let outputs = trainer.network().decode(z.clone(), &mut Pass::Inference);
    let prior = floats(trainer.prior().log_density(z));
    let of_image = |image: usize| {
        let pixels: Vec<f32> = (0..4).map(|pixel| f32::from(pixel == image)).collect();
        let target = Tensor::<4>::from_data(TensorData::new(pixels, [1, 2, 2, 1]), device);
        let target = target.repeat_dim(0, POINTS * POINTS);
        let losses = floats(trainer.network().likelihood().negative_log_likelihood(outputs.clone(), target));
        let cell = (10.0 / (POINTS - 1) as f64).powi(2);
        let terms = losses.iter().zip(&prior).map(|(loss, prior)| f64::from(prior - loss).exp() * cell);
        terms.sum::<f64>().ln()
    };
    (0..4).map(of_image).sum::<f64>() / 4.0
}

/// The best model has ln p(x) = -ln 4 = -1.386. Gaussian posteriors leave gaps between them; those of an adversarially
/// trained encoder fill a quarter of the plane each (the paper: -1.568 and -1.403; PyTorch after as many
/// steps as here, three seeds: -1.60 to -1.63 and -1.47 to -1.50).
#[test]
fn adversarial_posteriors_share_the_latent_plane_better_than_gaussian_ones() {
    let data = four_points();
    let [gaussian, adversarial] = [
        ["objective=vae", "model.posterior=diagonal"],
        [
            "objective={ name = \"avb\", discriminator = { features = 16, width = 64, updates = 2, learning_rate = 2e-3 } }",
            "model.posterior={ name = \"implicit\", noise = 4, hidden = [64] }",
        ],
    ]
    .map(|sets| {
        let config = sets
            .into_iter()
            .fold(Source::default(), Source::set)
            .set("model.architecture={ name = \"mlp\", encoder = [64], decoder = [64] }")
            .set("model.latents={ continuous = 2 }")
            .set("optimizer.learning_rate=2e-3")
            .resolve()
            .unwrap();
        let mut trainer = Trainer::new(&config, &data, &unbraid::Device::cpu()).unwrap();
        for _ in 0..2000 {
            trainer.advance().unwrap();
        }
        evidence(&trainer)
    });
    assert!(gaussian < -4_f64.ln() && adversarial < -4_f64.ln() + 1e-3, "{gaussian} {adversarial}");
    assert!(adversarial > gaussian + 0.05, "{gaussian} {adversarial}");
}
