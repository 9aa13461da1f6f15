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

fn resolved(assignments: &[&str]) -> Result<(), String> {
    let source = assignments.iter().fold(Source::default(), |source, text| source.set(*text));
    source.resolve().map(drop).map_err(|error| error.to_string())
}

const STUDENT: &str = "model.prior={ name = \"student-t\", degrees_of_freedom = 9 }";

/// At the mean of N(mu, s^2), ln q is -ln s and a constant, which falls without limit as s grows.
#[test]
fn a_density_is_not_evaluated_at_a_decoded_mean() {
    let refusal = |term: &str| {
        let expected = format!("gaussian, since the term `{term}` needs samples of the posterior");
        format!("configuration: objective.encoder: found deterministic, expected {expected}")
    };
    let composed = |term: &str, encoder: &str| {
        format!(
            "objective={{ name = \"composed\", encoder = \"{encoder}\", terms = [\"mmd\", {{ {term} }}] }}"
        )
    };
    for (term, options) in [
        ("iwae-kl", ""),
        ("mutual-information", ""),
        ("total-correlation", ""),
        ("dimension-wise-kl", ""),
        ("exclusive-kl", ""),
        ("random-mixture", ", divergence = \"kl\""),
    ] {
        let term_table = format!("name = \"{term}\"{options}");
        assert_eq!(resolved(&[&composed(&term_table, "deterministic")]), Err(refusal(term)));
        assert_eq!(resolved(&[&composed(&term_table, "gaussian")]), Ok(()));
    }
    // Others do so if the divergence from the prior has no closed form.
    let mixture = "model.prior={ name = \"mixture\", positions = [[0, 0], [1, 1]], variance = 0.1 }";
    let anisotropic = "model.prior={ name = \"anisotropic\", variances = [2, 0.5] }";
    for (term, options) in [
        ("kl", ""),
        ("kl-from-capacity", ", capacity = 1"),
        ("continuous-kl-from-capacity", ", capacity = 1"),
    ] {
        let objective = composed(&format!("name = \"{term}\"{options}"), "deterministic");
        for prior in [STUDENT, mixture, "model.prior={ name = \"sparse\", gamma = 0.5 }"] {
            let found = resolved(&["model.latents={ continuous = 2 }", &objective, prior]);
            assert_eq!(found, Err(refusal(term)), "{prior}");
        }
        for prior in ["model.prior=standard-normal", anisotropic] {
            assert_eq!(resolved(&["model.latents={ continuous = 2 }", &objective, prior]), Ok(()), "{prior}");
        }
    }
    let aae = |kl| format!("objective={{ name = \"aae\", kl = {kl}, encoder = \"deterministic\" }}");
    assert_eq!(resolved(&[&aae(1), STUDENT]), Err(refusal("kl")));
    assert_eq!(resolved(&[&aae(0), STUDENT]), Ok(()));
    assert_eq!(resolved(&[&aae(1)]), Ok(()));
}

#[test]
fn a_learned_prior_needs_a_term_that_trains_it() {
    let learned = "model.prior={ name = \"anisotropic\", variances = \"equal\", learned = true }";
    let fixed = "model.prior={ name = \"anisotropic\", variances = \"equal\" }";
    for (name, options) in [
        ("wae-gan", ", lambda = 1"),
        ("aae", ""),
        ("autoencoder", ""),
        ("avb", ""),
        ("composed", ", terms = [\"negative-entropy\", \"total-correlation\"]"),
    ] {
        let objective = format!("objective={{ name = \"{name}\"{options} }}");
        let expected = format!("false, since no term of `{name}` has a gradient for the prior");
        assert_eq!(
            resolved(&[&objective, learned]),
            Err(format!("configuration: model.prior.learned: found true, expected {expected}"))
        );
        assert_eq!(resolved(&[&objective, fixed]), Ok(()), "{name}");
    }
    for objective in [
        "{ name = \"aae\", kl = 1 }",
        "{ name = \"wae-mmd\", lambda = 1 }",
        "{ name = \"avb\", adaptive_contrast = true }",
        "{ name = \"composed\", terms = [{ name = \"f-divergence\", divergence = \"kl\" }] }",
        "{ name = \"beta-tcvae\", beta = 6 }",
    ] {
        assert_eq!(resolved(&[&format!("objective={objective}"), learned]), Ok(()), "{objective}");
    }
}

#[test]
fn joint_vae_needs_no_weights_for_units_that_it_has_not() {
    let objective = "objective={ name = \"joint-vae\", gamma_categorical = 1, capacity_categorical = 1 }";
    let categorical = "model.latents={ continuous = 0, categorical = [3] }";
    assert_eq!(resolved(&[objective, categorical]), Ok(()));
    let both = "model.latents={ continuous = 2, categorical = [3] }";
    for (set, missing) in [("capacity", "gamma"), ("gamma", "capacity")] {
        let set = format!("objective.{set}_continuous=5");
        assert_eq!(
            resolved(&[objective, both, &set]),
            Err(format!("configuration: objective: missing key `{missing}_continuous`"))
        );
        assert_eq!(resolved(&[objective, categorical, &set]), Ok(()));
    }
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
