//! Every impossible value is refused by its key, with what was expected.

use crate::config::Source;

#[test]
fn what_is_out_of_range_is_named_with_what_is_expected() {
    for (objective, message) in [
        (
            "name = \"annealed-vae\", gamma = -1, capacity = 5",
            "objective.gamma: found -1, expected a finite number, 0 or more",
        ),
        (
            "name = \"annealed-vae\", gamma = 1, capacity = -5",
            "objective.capacity: found -5, expected a finite number, 0 or more",
        ),
        ("name = \"annealed-vae\", gamma = 1", "objective: missing key `capacity`"),
        ("name = \"beta-tcvae\", beta = -6", "objective.beta: found -6, expected a finite number, 0 or more"),
        (
            "name = \"beta-tcvae\", beta = 6, alpha = nan",
            "objective.alpha: found NaN, expected a finite number, 0 or more",
        ),
        (
            "name = \"beta-tcvae\", beta = 6, gamma = -0.5",
            "objective.gamma: found -0.5, expected a finite number, 0 or more",
        ),
        (
            "name = \"beta-tcvae\", beta = 6, estimator = \"mws2\"",
            "objective.estimator: unknown value `mws2`\nhint: did you mean `mws`?",
        ),
        (
            "name = \"beta-tcvae\", beta = 6, kl = \"exact\"",
            "objective.kl: unknown value `exact`\nhint: expected one of estimated, analytic",
        ),
        (
            "name = \"dip-vae-i\", lambda_od = -1, lambda_d = 1",
            "objective.lambda_od: found -1, expected a finite number, 0 or more",
        ),
        (
            "name = \"dip-vae-i\", lambda_od = 1, lambda_d = inf",
            "objective.lambda_d: found inf, expected a finite number, 0 or more",
        ),
        (
            "name = \"dip-vae-ii\", lambda_od = 1, lambda_d = 1, lambda_3 = -200",
            "objective.lambda_3: found -200, expected a finite number, 0 or more",
        ),
        (
            "name = \"dip-vae-ii\", lambda_od = 1, lambda_d = 1, running_decay = 1",
            "objective.running_decay: found 1, expected a number from 0 to below 1",
        ),
        (
            "name = \"decomposition\", alpha = -1, beta = 1",
            "objective.alpha: found -1, expected a finite number, 0 or more",
        ),
        (
            "name = \"decomposition\", alpha = 1, beta = -1",
            "objective.beta: found -1, expected a finite number, 0 or more",
        ),
        (
            "name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"mmd\", scales = [] }",
            "objective.divergence.scales: found [], expected one scale or more",
        ),
        (
            "name = \"decomposition\", alpha = 1, beta = 1, divergence = { name = \"mmd\", scales = [0.5, 0] }",
            "objective.divergence.scales: found 0, expected a finite number above 0",
        ),
        (
            "name = \"decomposition\", alpha = 1, beta = 1, divergence = \"inclusive\"",
            "objective.divergence.name: unknown value `inclusive`\nhint: did you mean `inclusive-kl`?",
        ),
        (
            "name = \"info-vae\", alpha = 1.5, lambda = 1",
            "objective.alpha: found 1.5, expected at most 1: the KL has the weight 1 - alpha",
        ),
        (
            "name = \"info-vae\", alpha = 0, lambda = 0.5",
            "objective.lambda: found 0.5, expected at least 1 at step 0: the MMD has the weight alpha + lambda - 1",
        ),
        (
            "name = \"info-vae\", alpha = { from = 1, to = 0, end = 10 }, lambda = 0.5",
            "objective.lambda: found 0.5, expected at least 1 at step 10: the MMD has the weight alpha + lambda - 1",
        ),
        (
            "name = \"info-vae\", alpha = 0, lambda = 5, mmd = { scales = [-1] }",
            "objective.mmd.scales: found -1, expected a finite number above 0",
        ),
        (
            "name = \"wae-mmd\", lambda = -10",
            "objective.lambda: found -10, expected a finite number, 0 or more",
        ),
        (
            "name = \"wae-mmd\", lambda = 10, encoder = \"random\"",
            "objective.encoder: unknown value `random`\nhint: expected one of deterministic, gaussian",
        ),
        ("name = \"iwae\", samples = 0", "objective.samples: found 0, expected at least 1"),
        (
            "name = \"factor-vae\", gamma = -1",
            "objective.gamma: found -1, expected a finite number, 0 or more",
        ),
        ("name = \"factor-vae\"", "objective: missing key `gamma`"),
        (
            "name = \"factor-vae\", gamma = 1, discriminator_batch = \"first\"",
            "objective.discriminator_batch: unknown value `first`\nhint: expected one of second, same",
        ),
        (
            "name = \"factor-vae\", gamma = 1, discriminator = { layers = 0 }",
            "objective.discriminator.layers: found 0, expected at least 1",
        ),
        (
            "name = \"wae-gan\", lambda = 1, discriminator = { width = 0 }",
            "objective.discriminator.width: found 0, expected at least 1",
        ),
        (
            "name = \"aae\", discriminator = { learning_rate = 0 }",
            "objective.discriminator.learning_rate: found 0, expected a finite number above 0",
        ),
        (
            "name = \"aae\", discriminator = { beta1 = 1 }",
            "objective.discriminator.beta1: found 1, expected a number from 0 to below 1",
        ),
        (
            "name = \"aae\", discriminator = { depth = 5 }",
            "objective.discriminator: unknown key `depth`\nhint: expected one of layers, width, learning_rate, beta1, beta2, \
             epsilon, leak",
        ),
        (
            "name = \"wae-gan\", lambda = 1, generator_loss = \"gan\"",
            "objective.generator_loss: unknown value `gan`\nhint: expected one of non-saturating, minimax",
        ),
        (
            "name = \"joint-vae\", gamma_continuous = 1, capacity_continuous = -1, gamma_categorical = 1, capacity_categorical = 1",
            "objective.capacity_continuous: found -1, expected a finite number, 0 or more",
        ),
        (
            "name = \"autoencoder\", beta = 1",
            "objective: unknown key `beta`\nhint: there are no options here\nhint: the method is `autoencoder`; objective.name=... chooses another",
        ),
    ] {
        let assignment = format!("objective={{ {objective} }}");
        let source = Source { assignments: vec![assignment], ..Source::default() };
        let error = source.resolve().expect_err(objective).to_string();
        assert_eq!(error, format!("configuration: {message}"), "{objective}");
    }
}

#[test]
fn moments_need_a_prior_that_has_them() {
    let objective = "objective={ name = \"decomposition\", alpha = 1, beta = 1, divergence = \"moments\" }";
    let resolve = |degrees: f64| {
        let prior = format!("model.prior={{ name = \"student-t\", degrees_of_freedom = {degrees} }}");
        Source { assignments: vec![objective.to_owned(), prior], ..Source::default() }.resolve()
    };
    assert_eq!(
        resolve(2.0).unwrap_err().to_string(),
        "configuration: objective.divergence: found moments with a Student-t prior of 2 degrees of freedom, expected mmd or inclusive-kl, since \
         that prior has no covariance"
    );
    assert!(resolve(3.0).is_ok());
}

#[test]
fn images_can_be_compared_from_two_on() {
    for (name, weight) in [("beta-tcvae", "beta"), ("wae-mmd", "lambda")] {
        let objective = format!("objective={{ name = \"{name}\", {weight} = 6 }}");
        let assignments = vec![objective, "training.batch_size=1".to_owned()];
        let error = Source { assignments, ..Source::default() }.resolve().unwrap_err().to_string();
        let expected = format!("at least 2, since objective `{name}` compares images");
        assert_eq!(error, format!("configuration: training.batch_size: found 1, expected {expected}"));
    }
}
