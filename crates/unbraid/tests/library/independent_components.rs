//! FastICA: known sources are found again, and a run of `ica` is the linear model that it says.

use ndarray::{Array2, Axis, array};
use rand::RngExt;
use unbraid::Session;
use unbraid::config::Source;
use unbraid::data::progress::Silent;
use unbraid::data::random::Stream;
use unbraid::data::storage::{ByteImages, Pixels};
use unbraid::data::{DataSet, Fingerprint, ImageShape, StoredImages};
use unbraid::model::principal_components::fast_ica;

/// Independent sources of mean zero and variance one: uniform, two-valued, and the double exponential.
fn sources(count: usize) -> Array2<f64> {
    let mut generator = Stream::new(5, "sources").at(0).generator();
    let mut sources = Array2::zeros((count, 3));
    for mut row in sources.rows_mut() {
        let mut unit = || generator.random_range(0.0..1.0_f64);
        row[0] = 12_f64.sqrt() * (unit() - 0.5);
        row[1] = if unit() < 0.5 { -1.0 } else { 1.0 };
        let (size, sign) = (-(1.0 - unit()).ln() / 2_f64.sqrt(), if unit() < 0.5 { -1.0 } else { 1.0 });
        row[2] = sign * size;
    }
    sources
}

/// A rotation about an oblique axis (Rodrigues' formula with the axis (2, 3, 6) / 7 and a sine of 0.6).
fn rotation() -> Array2<f64> {
    let axis = array![2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0];
    let cross = array![[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]];
    Array2::<f64>::eye(3) + &cross * 0.6 + cross.dot(&cross) * 0.2
}

#[test]
fn known_sources_are_found_up_to_order_and_sign() {
    let mixed = sources(20_000).dot(&rotation().t());
    let found = fast_ica(&mixed);
    // R times the mixing matrix is a permutation with signs; of 20,000 points, directions are known to about
    // 1 / sqrt(n).
    let product = found.dot(&rotation());
    for row in product.rows() {
        let large = row.iter().filter(|value| value.abs() > 0.999).count();
        let small = row.iter().filter(|value| value.abs() < 0.03).count();
        assert_eq!((large, small), (1, 2), "{product}");
    }
    for column in product.columns() {
        assert_eq!(column.iter().filter(|value| value.abs() > 0.999).count(), 1, "{product}");
    }
    let identity = found.dot(&found.t()) - Array2::<f64>::eye(3);
    assert!(identity.iter().all(|value| value.abs() < 1e-12), "{identity}");
    // At the fixed point the update is parallel to each direction (Hyvarinen 1999, eq. 20), computed here anew.
    for direction in found.rows() {
        let projections = mixed.dot(&direction);
        let count = mixed.nrows() as f64;
        let slope: f64 = projections.iter().map(|value| 1.0 - value.tanh().powi(2)).sum::<f64>() / count;
        let moved = mixed.t().dot(&projections.mapv(f64::tanh)) / count - &direction * slope;
        let cosine = moved.dot(&direction).abs() / moved.dot(&moved).sqrt();
        // Not exactly: decorrelation moves each a little on account of the others.
        assert!(cosine > 0.999, "{cosine}");
    }
}

/// Images of eight pixels that are a mixture of three sources.
fn images(sources: &Array2<f64>) -> StoredImages {
    let mixing = array![
        [0.09, 0.00, 0.02],
        [0.00, 0.08, -0.03],
        [0.05, -0.05, 0.00],
        [-0.02, 0.03, 0.06],
        [0.04, 0.04, 0.01],
        [0.01, -0.06, 0.05],
        [-0.07, 0.02, 0.02],
        [0.03, 0.01, -0.05]
    ];
    let pixels = sources.dot(&mixing.t()) + 0.5;
    let bytes = pixels.iter().map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u8).collect();
    let pixels = Pixels::Bytes(ByteImages::in_memory(8, bytes));
    let recipe = Fingerprint::Recipe("a mixture of three sources".to_owned());
    StoredImages::new("mixture", ImageShape::new(2, 4, 1), pixels, None, recipe)
}

#[test]
fn a_run_of_ica_encodes_the_sources_and_decodes_them_again() {
    let sources = sources(3000);
    let data = images(&sources);
    let directory = tempfile::tempdir().unwrap();
    let config = Source::preset("ica")
        .set("model.latents={ continuous = 4 }")
        .set("training.batch_size=100")
        .set("evaluation={ after_training = false, report = false }")
        .resolve()
        .unwrap();
    let run = Session::new(config).data(&data).out(directory.path().join("run")).execute(&Silent).unwrap();
    let indices: Vec<usize> = (0..data.len()).collect();
    let posteriors = run.encode_data(&data, &indices, Stream::new(0, "none"), &Silent).unwrap();
    let codes = posteriors.mean.mapv(f64::from);
    // Each source is one of the first three units, up to sign; noise of a byte in 255 costs little.
    for source in 0..3 {
        let largest = (0..3)
            .map(|unit| {
                let products = codes.column(unit).to_owned() * sources.column(source);
                (products.sum() / 3000.0).abs()
            })
            .fold(0.0, f64::max);
        assert!(largest > 0.97, "source {source}: {largest}");
    }
    for variance in codes.var_axis(Axis(0), 0.0).iter().take(3) {
        assert!((variance - 1.0).abs() < 1e-3, "{variance}");
    }
    let decoded = run.decode(&run.latents_of(&posteriors)).unwrap();
    let mut pixels = vec![0.0; 8];
    for image in 0..50 {
        data.write_image(image, Stream::new(0, "none").at(0).lane(0), &mut pixels).unwrap();
        for (found, expected) in decoded.index_axis(Axis(0), image).iter().zip(&pixels) {
            // Rounding to bytes is 1 / 255 at most.
            assert!((found - expected).abs() < 0.006, "{found} {expected}");
        }
    }
}
