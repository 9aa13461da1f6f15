//! 300 steps on a reduced `shapes`: adversaries and capacities do to the code what they are for.
use burn::tensor::{Tensor, TensorData};
use ndarray::{Array2, Axis};
use unbraid::config::{Config, Source};
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::data::{DataSet, open};
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
    let continuous = array(posterior.continuous.divergence_from_standard_normal());
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
