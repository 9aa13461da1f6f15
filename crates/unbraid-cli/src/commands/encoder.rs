//! `unbraid evaluate --encoder`: scores of an encoder of another program, as an ONNX file.

use super::configuration::Compute;
use crate::error::{Outcome, usage};
use clap::Args;
use std::path::PathBuf;
use unbraid::config::EvaluationConfig;
use unbraid::data::DataSpec;
use unbraid::evaluate::Settings;
use unbraid::metrics::Report;

/// Which encoder, and what it encodes.
#[derive(Args, Debug)]
#[cfg_attr(not(feature = "onnx"), allow(dead_code, reason = "only read with the feature"))]
pub(crate) struct EncoderArgs {
    /// An encoder as an ONNX file, which encodes the images of --data; nothing is written
    #[arg(long, value_name = "FILE.onnx", requires = "data", conflicts_with = "codes")]
    encoder: Option<PathBuf>,
    /// The data set for --encoder, as in `unbraid data`
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<DataSpec>,
    /// The encoder's output that is the code (default: the mean, where names tell mean and log-variance, else
    /// the first)
    #[arg(long, value_name = "NAME")]
    encoder_output: Option<String>,
    /// The values of black and white that the encoder takes (default: 0,1, or what the file says)
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    encoder_range: Option<(f32, f32)>,
}

/// `-1,1`
fn range(text: &str) -> Result<(f32, f32), String> {
    let number = |text: &str| text.trim().parse::<f32>().ok().filter(|number| number.is_finite());
    let ends = text.split_once(',').and_then(|(low, high)| Some((number(low)?, number(high)?)));
    ends.filter(|(low, high)| low < high)
        .ok_or_else(|| "expected two numbers, the smaller first, as in -1,1".to_owned())
}

/// What was asked for, as the rest of the command line says it.
#[cfg_attr(not(feature = "onnx"), allow(dead_code, reason = "only read with the feature"))]
pub(super) struct Request<'a> {
    pub(super) compute: &'a Compute,
    pub(super) config: &'a EvaluationConfig,
    pub(super) settings: &'a Settings,
    pub(super) quiet: bool,
}

impl EncoderArgs {
    /// Whether there is one.
    ///
    /// # Errors
    /// If one of the other options is given without it. clap's `requires` says so only where nothing is given that
    /// excludes --encoder, such as a run.
    pub(super) fn is_given(&self) -> Outcome<bool> {
        let others = [
            (self.data.is_some(), "--data"),
            (self.encoder_output.is_some(), "--encoder-output"),
            (self.encoder_range.is_some(), "--encoder-range"),
        ];
        match others.into_iter().find(|(given, _)| *given) {
            Some((_, option)) if self.encoder.is_none() => {
                Err(usage(format!("{option}: found no --encoder, expected --encoder FILE.onnx with it")))
            }
            Some(_) | None => Ok(self.encoder.is_some()),
        }
    }

    /// Scores it.
    ///
    /// # Errors
    /// If the file or the data is wrong, or they do not fit each other.
    pub(super) fn score(&self, request: &Request<'_>) -> Outcome<Report> {
        let (Some(encoder), Some(data)) = (&self.encoder, &self.data) else {
            return Err(usage("expected --encoder FILE.onnx with --data"));
        };
        let device = request.compute.device();
        if device != unbraid::Device::cpu() {
            return Err(usage(format!("--device: found {device}, expected cpu for --encoder")));
        }
        request.compute.run(|| self.score_on(request, encoder, data))
    }

    #[cfg(feature = "onnx")]
    fn score_on(&self, request: &Request<'_>, encoder: &std::path::Path, spec: &DataSpec) -> Outcome<Report> {
        use crate::terminal::Terminal;
        use unbraid::config::EvaluationSplit;
        use unbraid::evaluate::evaluate_encoder;
        use unbraid::import::{EncoderOptions, OnnxEncoder};
        use unbraid::run::test_part;

        let terminal = Terminal::new(request.quiet);
        let data = unbraid::data::open(spec, &terminal)?;
        let test = match request.config.split {
            EvaluationSplit::Train => None,
            EvaluationSplit::Test => {
                let part = test_part(spec, &data.fingerprint()?, &terminal)?;
                let expected = "the training split, as in mnist(split=train), whose rest is scored";
                Some(part.ok_or_else(|| usage(format!("--data: found {spec}, expected {expected}")))?)
            }
        };
        let options = EncoderOptions { output: self.encoder_output.clone(), range: self.encoder_range };
        let encoder = OnnxEncoder::open(encoder, data.as_ref(), &options)?;
        let variances = if encoder.has_log_variances() { "with" } else { "without" };
        terminal.log(&format!(
            "{}: {} continuous units {variances} log-variances, {} categorical units",
            encoder.path().display(),
            encoder.units(),
            encoder.categorical_units().len()
        ));
        let evaluation =
            evaluate_encoder(&encoder, data.as_ref(), test.as_deref(), request.settings, &terminal)?;
        Ok(evaluation.report)
    }

    #[cfg(not(feature = "onnx"))]
    fn score_on(&self, _: &Request<'_>, _: &std::path::Path, _: &DataSpec) -> Outcome<Report> {
        Err(usage("--encoder: not in this build: cargo build --release --features onnx"))
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_range_is_two_numbers() {
        assert_eq!(range("-1,1"), Ok((-1.0, 1.0)));
        assert_eq!(range("0, 255"), Ok((0.0, 255.0)));
        let wrong = Err("expected two numbers, the smaller first, as in -1,1".to_owned());
        for text in ["1", "1,0", "0,inf", "a,b", "0,1,2", ""] {
            assert_eq!(range(text), wrong, "{text}");
        }
    }
}
