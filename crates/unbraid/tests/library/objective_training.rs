//! Each objective trains, and its own term goes where it should: 300 steps of a small network on few images,
//! against the same run without the term.
use unbraid::config::Source;
use unbraid::train::{Ending, Journal, Row, Trainer, train};

/// 768 images, a network of two small layers.
const CONFIGURATION: &str = r#"
seed = 1
[data]
name = "shapes"
scales = 2
orientations = 2
positions = 8
[model]
architecture = { name = "mlp", encoder = [32], decoder = [32] }
initializer = "glorot-uniform"
latents = { continuous = 4 }
[optimizer]
learning_rate = 3e-3
[training]
batch_size = 32
steps = 300
log_every = 50
"#;

#[derive(Default)]
pub(crate) struct Rows(pub(crate) Vec<Row>);

impl Journal for Rows {
    fn step(&mut self, _: u64, _: f64) -> unbraid::Result {
        Ok(())
    }

    fn row(&mut self, row: &Row) -> unbraid::Result {
        self.0.push(row.clone());
        Ok(())
    }

    fn checkpoint(&mut self, _: &Trainer<'_>, _: bool) -> unbraid::Result {
        Ok(())
    }

    fn should_stop(&self) -> bool {
        false
    }
}

impl Rows {
    /// Mean over the last 50 steps.
    fn last(&self, key: &str) -> f64 {
        self.0.last().unwrap().get(&format!("train/{key}")).unwrap_or_else(|| panic!("no {key}"))
    }
}

/// Trains with this objective.
fn rows(objective: &str) -> Rows {
    let text = format!("{CONFIGURATION}\n[objective]\n{objective}\n");
    let config = Source::parse(&text, "test").unwrap();
    let data = unbraid::data::open(&config.data, &unbraid::data::progress::Silent).unwrap();
    let mut trainer = Trainer::new(&config, data.as_ref(), &unbraid::Device::cpu()).unwrap();
    let mut rows = Rows::default();
    assert_eq!(train(&mut trainer, &config, 300, &mut rows).unwrap(), Ending::Complete);
    rows
}

fn with(name: &str, options: &str) -> Rows {
    rows(&format!("name = \"{name}\"\n{options}"))
}

#[test]
fn the_total_correlation_falls_under_beta_tcvae() {
    let without = with("beta-tcvae", "beta = 1").last("total_correlation");
    let with = with("beta-tcvae", "beta = 10").last("total_correlation");
    assert!(with < 0.5 * without, "{with} {without}");
}

#[test]
fn the_covariance_approaches_the_identity_under_dip() {
    let distance = |rows: &Rows| rows.last("covariance_off_diagonal") + rows.last("covariance_diagonal");
    let without = with("dip-vae-ii", "lambda_od = 0\nlambda_d = 0\nlambda_3 = 1e-6");
    assert!(distance(&without) > 10.0, "{}", distance(&without));
    for (name, options) in [
        ("dip-vae-i", "lambda_od = 10\nlambda_d = 100"),
        ("dip-vae-i", "lambda_od = 10\nlambda_d = 100\nrunning_decay = 0.5"),
        ("dip-vae-ii", "lambda_od = 10\nlambda_d = 10\nlambda_3 = 20"),
    ] {
        // Of a batch of 32, the covariance itself is known to about 1 / sqrt(32) in each of its 16 entries: 0.5 in all.
        let rows = with(name, options);
        assert!(distance(&rows) < 2.0, "{name}: {}", distance(&rows));
        if name == "dip-vae-ii" {
            let [third, free] = [&rows, &without].map(|rows| rows.last("third_moment"));
            assert!(third < 0.05 * free, "{third} {free}");
        }
    }
}

#[test]
fn the_divergence_reaches_the_capacity_under_annealing() {
    let rows = with("annealed-vae", "gamma = 100\ncapacity = { from = 0, to = 6, end = 200 }");
    assert_eq!(rows.last("schedule/capacity"), 6.0);
    assert!((rows.last("kl") - 6.0).abs() < 0.3, "{}", rows.last("kl"));
    // Half way up: the mean of C over the steps 50 to 99 is 6 * 74.5 / 200.
    let middle = |key: &str| rows.0[1].get(key).unwrap();
    assert!((middle("train/schedule/capacity") - 2.235).abs() < 1e-9);
    assert!((middle("train/kl") - 2.235).abs() < 0.3, "{}", middle("train/kl"));
}

#[test]
fn the_aggregate_posterior_approaches_the_prior() {
    for (divergence, key, weight) in
        [("mmd", "mmd", 1000), ("inclusive-kl", "inclusive_kl", 10), ("moments", "moments", 100)]
    {
        let [without, with] = [0, weight].map(|alpha| {
            with("decomposition", &format!("beta = 0.1\nalpha = {alpha}\ndivergence = \"{divergence}\""))
                .last(key)
        });
        assert!(with < 0.3 * without, "{divergence}: {with} {without}");
    }
    let wae = with("wae-mmd", "lambda = 3000\nencoder = \"gaussian\"");
    let mmd = |row: usize| wae.0[row].get("train/mmd").unwrap();
    assert!(mmd(5) < 0.5 * mmd(0), "{} {}", mmd(0), mmd(5));
}

/// Jensen's inequality: the importance-weighted bound is the closer one, whatever the model.
#[test]
fn the_importance_weighted_bound_is_tighter() {
    let rows = with("iwae", "samples = 4");
    for row in &rows.0 {
        let value = |key: &str| row.get(&format!("train/{key}")).unwrap();
        assert!(value("loss") < value("reconstruction") + value("kl"), "step {}", row.step);
    }
    assert!(rows.last("loss") < 0.5 * rows.0[0].get("train/loss").unwrap());
}

#[test]
fn an_autoencoder_reconstructs_better_than_a_vae() {
    let [autoencoder, vae] = ["autoencoder", "vae"].map(|name| with(name, "").last("reconstruction"));
    assert!(autoencoder < vae, "{autoencoder} {vae}");
}
