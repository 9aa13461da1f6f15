//! `cargo xtask bench train`: what a step of training costs.

use std::path::Path;
use std::process::Command;

/// Each objective as its paper sets it up; the first is what the others are compared with.
const OBJECTIVES: &[&str] = &[
    r#"{ name = "beta-vae", beta = 4.0 }"#,
    r#"{ name = "vae" }"#,
    r#"{ name = "autoencoder" }"#,
    r#"{ name = "annealed-vae", gamma = 1000.0, capacity = 25.0 }"#,
    r#"{ name = "beta-tcvae", beta = 6.0 }"#,
    r#"{ name = "beta-tcvae", beta = 6.0, estimator = "mws" }"#,
    r#"{ name = "dip-vae-i", lambda_od = 10.0, lambda_d = 100.0 }"#,
    r#"{ name = "dip-vae-ii", lambda_od = 10.0, lambda_d = 10.0, lambda_3 = 200.0 }"#,
    r#"{ name = "decomposition", alpha = 10.0, beta = 1.0 }"#,
    r#"{ name = "decomposition", alpha = 10.0, beta = 1.0, divergence = { name = "mmd", per_unit = true } }"#,
    r#"{ name = "decomposition", alpha = 10.0, beta = 1.0, divergence = "inclusive-kl" }"#,
    r#"{ name = "decomposition", alpha = 10.0, beta = 1.0, divergence = "moments" }"#,
    r#"{ name = "info-vae", alpha = 0.0, lambda = 10.0 }"#,
    r#"{ name = "wae-mmd", lambda = 10.0 }"#,
    r#"{ name = "wae-gan", lambda = 10.0 }"#,
    r#"{ name = "aae" }"#,
    r#"{ name = "factor-vae", gamma = 10.0 }"#,
    r#"{ name = "iwae", samples = 5 }"#,
];

/// Measures `program` with one objective, or with all of them as a table; further arguments go to `unbraid bench`.
pub fn bench(program: &Path, arguments: &[&str]) -> Result<(), String> {
    let rest: Vec<&str> = arguments.iter().copied().filter(|argument| *argument != "--objectives").collect();
    if rest.len() == arguments.len() {
        let status = Command::new(program).arg("bench").args(&rest).status();
        return match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("unbraid bench failed ({status})")),
            Err(error) => Err(format!("cannot start {}: {error}", program.display())),
        };
    }
    println!("| objective | ms a step | relative |\n|---|---|---|");
    let mut first = None;
    for objective in OBJECTIVES {
        let milliseconds = step(program, objective, &rest)?;
        let relative = milliseconds / *first.get_or_insert(milliseconds);
        println!("| `{objective}` | {milliseconds:.1} | {relative:.2} |");
    }
    Ok(())
}

/// Milliseconds a step, from the JSON that `unbraid bench` prints.
fn step(program: &Path, objective: &str, rest: &[&str]) -> Result<f64, String> {
    let output = Command::new(program)
        .args(["bench", "--json", "--set", &format!("objective={objective}")])
        .args(rest)
        .output()
        .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{objective}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.split("\"step_ms\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    number
        .and_then(|number| number.trim().parse().ok())
        .ok_or_else(|| format!("{objective}: found no step_ms in: {text}"))
}
