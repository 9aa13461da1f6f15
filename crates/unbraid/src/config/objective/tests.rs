//! Every value that cannot be right is refused by its key, with what was expected.

use crate::config::Source;

#[test]
fn what_is_out_of_range_is_named_with_what_is_expected() {
    for (objective, words) in [
        ("name = \"annealed-vae\", gamma = -1, capacity = 5", &["objective.gamma", "-1", "0 or more"][..]),
        ("name = \"annealed-vae\", gamma = 1, capacity = -5", &["objective.capacity", "-5", "0 or more"]),
        ("name = \"annealed-vae\", gamma = 1", &["objective", "missing field", "capacity"]),
        ("name = \"beta-tcvae\", beta = -6", &["objective.beta", "-6"]),
        ("name = \"beta-tcvae\", beta = 6, alpha = nan", &["objective.alpha", "NaN"]),
        ("name = \"beta-tcvae\", beta = 6, gamma = -0.5", &["objective.gamma", "-0.5"]),
        ("name = \"beta-tcvae\", beta = 6, estimator = \"mws2\"", &["mws2", "did you mean `mws`"]),
        ("name = \"beta-tcvae\", beta = 6, kl = \"exact\"", &["exact", "expected one of"]),
        ("name = \"dip-vae-i\", lambda_od = -1, lambda_d = 1", &["objective.lambda_od", "-1"]),
        ("name = \"dip-vae-i\", lambda_od = 1, lambda_d = inf", &["objective.lambda_d", "inf"]),
        (
            "name = \"dip-vae-ii\", lambda_od = 1, lambda_d = 1, lambda_3 = -200",
            &["objective.lambda_3", "-200"],
        ),
        (
            "name = \"dip-vae-ii\", lambda_od = 1, lambda_d = 1, running_decay = 1",
            &["objective.running_decay", "found 1", "from 0 to below 1"],
        ),
        ("name = \"decomposition\", alpha = -1, beta = 1", &["objective.alpha", "-1"]),
        ("name = \"decomposition\", alpha = 1, beta = -1", &["objective.beta", "-1"]),
        (
            "name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"mmd\", scales = [] }",
            &["objective.divergence.scales", "[]", "one scale or more"],
        ),
        (
            "name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"mmd\", scales = [0.5, 0] }",
            &["objective.divergence.scales", "found 0", "above 0"],
        ),
        (
            "name = \"decomposition\", alpha = 1, beta = 1, divergence = \"inclusive\"",
            &["inclusive", "did you mean `inclusive-kl`"],
        ),
        ("name = \"info-vae\", alpha = 1.5, lambda = 1", &["objective.alpha", "1.5", "at most 1"]),
        ("name = \"info-vae\", alpha = 0, lambda = 0.5", &["objective.lambda", "0.5", "at least 1"]),
        (
            "name = \"info-vae\", alpha = { from = 1, to = 0, end = 10 }, lambda = 0.5",
            &["objective.lambda", "0.5", "at least 1 at step 10"],
        ),
        (
            "name = \"info-vae\", alpha = 0, lambda = 5, mmd = { scales = [-1] }",
            &["objective.mmd.scales", "-1"],
        ),
        ("name = \"wae-mmd\", lambda = -10", &["objective.lambda", "-10"]),
        ("name = \"wae-mmd\", lambda = 10, encoder = \"random\"", &["random", "expected one of"]),
        ("name = \"iwae\", samples = 0", &["objective.samples", "found 0", "at least 1"]),
        ("name = \"factor-vae\", gamma = -1", &["objective.gamma", "-1"]),
        ("name = \"factor-vae\"", &["objective", "missing field", "gamma"]),
        (
            "name = \"factor-vae\", gamma = 1, discriminator_batch = \"first\"",
            &["first", "expected one of second, same"],
        ),
        (
            "name = \"factor-vae\", gamma = 1, discriminator = { layers = 0 }",
            &["objective.discriminator.layers", "found 0", "at least 1"],
        ),
        (
            "name = \"wae-gan\", lambda = 1, discriminator = { width = 0 }",
            &["objective.discriminator.width", "found 0", "at least 1"],
        ),
        (
            "name = \"aae\", discriminator = { learning_rate = 0 }",
            &["objective.discriminator.learning_rate", "found 0", "above 0"],
        ),
        (
            "name = \"aae\", discriminator = { beta1 = 1 }",
            &["objective.discriminator.beta1", "found 1", "from 0 to below 1"],
        ),
        ("name = \"aae\", discriminator = { depth = 5 }", &["depth", "objective"]),
        ("name = \"wae-gan\", lambda = 1, generator_loss = \"gan\"", &["gan", "minimax"]),
        (
            "name = \"joint-vae\", gamma_continuous = 1, capacity_continuous = -1, gamma_categorical = 1, \
             capacity_categorical = 1",
            &["objective.capacity_continuous", "-1"],
        ),
        ("name = \"autoencoder\", beta = 1", &["unknown key `beta`"]),
    ] {
        let assignment = format!("objective={{ {objective} }}");
        let source = Source { assignments: vec![assignment], ..Source::default() };
        let error = source.resolve().expect_err(objective).to_string();
        for word in words {
            assert!(error.contains(word), "{objective}: `{word}` in: {error}");
        }
    }
}

#[test]
fn moments_need_a_prior_that_has_them() {
    let objective = "objective={ name = \"decomposition\", alpha = 1, beta = 1, divergence = \"moments\" }";
    let resolve = |degrees: f64| {
        let prior = format!("model.prior={{ name = \"student-t\", degrees_of_freedom = {degrees} }}");
        Source { assignments: vec![objective.to_owned(), prior], ..Source::default() }.resolve()
    };
    let error = resolve(2.0).unwrap_err().to_string();
    for word in ["objective.divergence", "2 degrees", "mmd or inclusive-kl"] {
        assert!(error.contains(word), "{error}");
    }
    assert!(resolve(3.0).is_ok());
}

#[test]
fn images_can_be_compared_from_two_on() {
    for objective in ["beta-tcvae\", beta = 6", "wae-mmd\", lambda = 6"] {
        let assignments =
            vec![format!("objective={{ name = \"{objective} }}"), "training.batch_size=1".to_owned()];
        let error = Source { assignments, ..Source::default() }.resolve().unwrap_err().to_string();
        assert!(error.contains("training.batch_size: found 1, expected at least 2"), "{error}");
    }
}
