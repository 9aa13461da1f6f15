//! What priors do to what is learned, in some hundred steps.
use crate::golden::{Batch, golden};
use burn::tensor::{Device, Tensor, TensorData};
use ndarray::Array2;
use unbraid::config::{Initializer, PriorConfig, Source, TERMS, Variances};
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::metrics::Unlabelled;
use unbraid::metrics::scores::{HoyerParameters, hoyer};
use unbraid::model::Pass;
use unbraid::objective::{Objective, Setting};
use unbraid::prior::Prior;
use unbraid::train::Trainer;

/// Trains a preset with changes, and gives the posterior means of every `stride`-th image.
fn codes(preset: &str, sets: &[&str], steps: u64, stride: usize) -> Array2<f64> {
    let assignments = sets.iter().map(|set| (*set).to_owned()).collect();
    let source = Source { preset: Some(preset.to_owned()), assignments, ..Source::default() };
    let config = source.resolve().unwrap();
    let data = unbraid::data::open(&config.data, &Silent).unwrap();
    let mut trainer = Trainer::new(&config, data.as_ref(), &unbraid::Device::cpu()).unwrap();
    for _ in 0..steps {
        trainer.advance().unwrap();
    }
    let shape = data.shape();
    let indices: Vec<usize> = (0..data.len()).step_by(stride).collect();
    let mut pixels = vec![0.0; indices.len() * shape.values()];
    data.write_batch(&indices, Stream::new(0, "test").at(0), &mut pixels).unwrap();
    let dimensions = [indices.len(), shape.height, shape.width, shape.channels];
    let images = Tensor::from_data(TensorData::new(pixels, dimensions), trainer.network().device());
    let mean = trainer.network().encode(images, &mut Pass::Inference).continuous.moments().mean;
    let units = mean.dims()[1];
    let values: Vec<f32> = mean.inner().into_data().try_into_vec().unwrap();
    let codes = Array2::from_shape_vec((indices.len(), units), values.into_iter().map(f64::from).collect());
    codes.unwrap()
}

/// Mathieu et al. 2019, section 6.2: with alpha alone, q(z) is drawn to the prior, and each arm of the pinwheel to a
/// component of its own.
#[test]
fn each_arm_of_the_pinwheel_belongs_to_a_mode_of_the_mixture() {
    let codes = codes("mathieu/pinwheel", &[], 300, 1);
    let mut modes: Vec<[bool; 2]> = (0..4)
        .map(|arm| {
            let centre = |axis| (100 * arm..100 * (arm + 1)).map(|i| codes[[i, axis]]).sum::<f64>() / 100.0;
            // The modes are the corners of the unit square.
            [centre(0) > 0.5, centre(1) > 0.5]
        })
        .collect();
    modes.sort_unstable();
    assert_eq!(modes, [[false, false], [false, true], [true, false], [true, true]]);
}

/// With one scale for all points, which cannot become small at once, the arms lie on the modes.
#[test]
fn the_four_arms_of_the_pinwheel_sit_on_the_modes_of_the_mixture() {
    let scale = "model.likelihood={ name = \"gaussian\", scale = \"learned\", output = \"linear\" }";
    let codes = codes("mathieu/pinwheel", &[scale], 300, 1);
    let modes = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let mut taken = [false; 4];
    for arm in 0..4 {
        // The points of an arm follow each other.
        let points: Vec<[f64; 2]> =
            (100 * arm..100 * (arm + 1)).map(|i| [codes[[i, 0]], codes[[i, 1]]]).collect();
        let distance =
            |point: &[f64; 2], mode: usize| (point[0] - modes[mode][0]).hypot(point[1] - modes[mode][1]);
        let nearest = |point: &[f64; 2]| {
            (0..4).min_by(|a, b| distance(point, *a).total_cmp(&distance(point, *b))).unwrap()
        };
        let centre = [0, 1].map(|axis| points.iter().map(|point| point[axis]).sum::<f64>() / 100.0);
        let mode = nearest(&centre);
        assert!(!std::mem::replace(&mut taken[mode], true), "two arms on mode {mode}");
        // The components have the standard deviation 0.17.
        assert!(distance(&centre, mode) < 0.17, "arm {arm} is centred at {centre:?}");
        let own = points.iter().filter(|point| nearest(point) == mode).count();
        assert!(own >= 95, "{own} of 100 points of arm {arm} are nearest to their mode");
    }
}

/// Mathieu et al. 2019, section 6.3: the same run with the sparse prior in place of the normal one.
#[test]
fn codes_are_sparser_under_the_sparse_prior() {
    let with = |prior: &str| {
        let prior = format!("model.prior={prior}");
        let sets = [
            "data={ name = \"shapes\", scales = 2, orientations = 4, positions = 8 }",
            "model.architecture={ name = \"mlp\", encoder = [64], decoder = [64] }",
            "objective={ name = \"decomposition\", alpha = 100, beta = 1 }",
            "objective.divergence={ name = \"mmd\", per_unit = true }",
            "optimizer.learning_rate=3e-3",
            &prior,
        ];
        hoyer(&Unlabelled::new(codes("default", &sets, 300, 3).view()).unwrap(), &HoyerParameters::default())
    };
    let (normal, sparse) = (with("standard-normal"), with("{ name = \"sparse\", gamma = 0.8 }"));
    // Samples of the priors themselves have 0.27 and 0.64 (NumPy, 20,000 of each).
    assert!(normal < 0.4 && sparse > normal + 0.15, "{normal} {sparse}");
}

/// A learned prior is accepted beside those terms whose gradient reaches its variances, and refused beside the others.
#[test]
fn a_learned_prior_is_accepted_where_it_is_trained() {
    let golden = golden();
    let device = Device::flex().autodiff();
    let setting =
        Setting { seed: 0, units: 4, pixels: 4, initializer: Initializer::Pytorch, device: device.clone() };
    let variances = Variances::Given(vec![2.0, 0.5, 1.0, 0.5]);
    let config = PriorConfig::Anisotropic { variances, learned: true, scale: None };
    let adaptive = "{ name = \"adversarial-kl\", adaptive_contrast = true, discriminator = { width = 8 } }";
    let mut trained = Vec::new();
    for example in TERMS.iter().map(|term| term.example).chain([adaptive]) {
        let term = example.replace("width = 1000", "width = 8").replace("width = 512", "width = 8");
        let source = Source::default()
            .set("model.latents={ continuous = 4 }")
            .set(format!("objective={{ name = \"composed\", terms = [{term}] }}"));
        let objective = Objective::new(&source.resolve().unwrap().objective, &setting);

        let prior = Prior::new(&config, 4, None, &device).unwrap();
        let batch = Batch::new(&golden, &device);
        let mut forward = batch.forward(&golden, &prior);
        let images = forward.batch();
        forward.prior_sample = Some(prior.sample(Stream::new(0, "prior").at(0), images));
        forward.second_sample = Some(batch.sample.clone().detach());
        forward.images = Some(Tensor::ones([images, 4], &device));
        forward.reconstruction = Tensor::zeros([images], &device);
        // The means have a gradient even where the term has none.
        let value = objective.evaluate(&forward).terms.remove(0) + batch.mean.clone().sum();
        let gradient = prior.parameters()[0].take_gradient(&mut value.backward()).unwrap_or_default();
        let has_gradient = gradient.iter().any(|slope| *slope != 0.0);

        let variances = "variances = [2.0, 0.5, 1.0, 0.5], learned = true";
        let learned = source.set(format!("model.prior={{ name = \"anisotropic\", {variances} }}"));
        assert_eq!(learned.resolve().is_ok(), has_gradient, "{example}");
        trained.push(has_gradient);
    }
    assert!(trained.contains(&true) && trained.contains(&false));
}
