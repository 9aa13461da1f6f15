//! The codes file: an `.npz` with codes and factors, written by unbraid or any other program.
//!
//! Arrays `codes_train` \[n, units\], `factors_train` \[n, factors\], `codes_test` and `factors_test`; or
//! only `codes` and `factors`, of which the first two thirds are the training points. Optional:
//! `log_variance_train` (or `log_variance`) for scores that need posteriors, `clusters_train` and
//! `clusters_test` \[n, categorical units\] with the most likely class of each categorical unit,
//! `factor_names`, and `factor_kinds` (`categorical`, `ordered` or `angle`). Factors are whole numbers, or
//! real ones where that is what they are (an angle, an age); without them only the unsupervised scores apply.
//!
//! Files written by unbraid also have `written_by`, by which they are recognised, and where scores needed it
//! `divergence_train` \[n, units\] (from a prior that is not standard normal), `reconstruction_error_train` \[n, 1\],
//! and `factor_values_train` and `factor_values_test`, what class numbers stand for where that is a number. If the test
//! points are images that the model was not trained on, `split` is `test`, and the file has these arrays for the test
//! points, too: scores that fit nothing are computed on them.

use crate::error::{Error, Result};
use crate::files::{self, Existing};
use ndarray::{Array2, Axis};
use std::io::{self, Seek, Write};
use std::path::Path;
use unbraid_data::DataError;
use unbraid_data::formats::npy::ElementType;
use unbraid_data::formats::npz::Npz;
use unbraid_data::formats::npz_writer::NpzWriter;
use unbraid_metrics::{Codes, FactorKind};

/// Reads a codes file.
///
/// # Errors
/// If the file is damaged, arrays are missing, or they do not match; the message lists the arrays found.
pub fn read(path: &Path) -> Result<Codes> {
    let mut npz = Npz::open(path)?;
    let with_path = |source: unbraid_metrics::MetricsError| Error::Scoring { path: path.to_owned(), source };
    let codes = if npz.contains("codes_train") {
        let train = floats(&mut npz, "codes_train")?;
        if npz.contains("factors_train") {
            let (factors_train, test) =
                (factors(&mut npz, "factors_train")?, floats(&mut npz, "codes_test")?);
            match (factors_train, factors(&mut npz, "factors_test")?) {
                (Factors::Whole(factors_train), Factors::Whole(factors_test)) => {
                    Codes::new(train, factors_train, test, factors_test)
                }
                (factors_train, factors_test) => Codes::from_numbers(
                    train,
                    factors_train.into_numbers(),
                    test,
                    factors_test.into_numbers(),
                ),
            }
        } else {
            Codes::unlabelled(train)
        }
    } else if npz.contains("codes") {
        let codes = floats(&mut npz, "codes")?;
        if npz.contains("factors") {
            match factors(&mut npz, "factors")? {
                Factors::Whole(factors) => Codes::split(codes.view(), factors.view()),
                Factors::Real(factors) => Codes::split_numbers(codes.view(), factors.view()),
            }
        } else {
            Codes::unlabelled(codes)
        }
    } else {
        let found = format!("only the arrays {}", npz.listed_names());
        let expected =
            "`codes_train`, `factors_train`, `codes_test`, `factors_test`; or `codes` and `factors`";
        return Err(DataError::content(path, "archive", found, expected).into());
    };
    let codes = codes.map_err(with_path)?;
    let mut codes = with_log_variances(codes, &mut npz)?.map_err(with_path)?;
    if npz.contains("clusters_train") && codes.has_factors() {
        let (train, test) = (integers(&mut npz, "clusters_train")?, integers(&mut npz, "clusters_test")?);
        codes = codes.with_clusters(train, test).map_err(with_path)?;
    }
    if npz.contains("factor_names") {
        codes = codes.with_factor_names(npz.array("factor_names")?.strings()?).map_err(with_path)?;
    }
    if npz.contains("factor_kinds") && codes.has_factors() {
        codes = codes.with_factor_kinds(factor_kinds(path, &mut npz)?).map_err(with_path)?;
    }
    if npz.contains("factor_values_train") && codes.has_factors() {
        let train = floats(&mut npz, "factor_values_train")?;
        let test = floats(&mut npz, "factor_values_test")?;
        codes = codes.with_factor_numbers(train, test).map_err(with_path)?;
    }
    codes = with_posteriors(codes, &mut npz, "train")?.map_err(with_path)?;
    if npz.contains("split") && npz.array("split")?.strings()? == [TEST] {
        if npz.contains("divergence_train") && !npz.contains("divergence_test") {
            let found = "`divergence_train` without `divergence_test`";
            let expected =
                "both, since `split` is `test`: scores of posteriors are computed on the test points";
            return Err(DataError::content(path, "archive", found, expected).into());
        }
        let unseen = unseen(&codes, &mut npz)?.map_err(with_path)?;
        codes = codes.with_unseen(unseen).map_err(with_path)?;
    }
    Ok(codes)
}

const TEST: &str = "test";

fn factor_kinds(path: &Path, npz: &mut Npz) -> Result<Vec<FactorKind>> {
    let words = npz.array("factor_kinds")?.strings()?;
    let kind = |word: &String| {
        FactorKind::of_word(word).ok_or_else(|| {
            let expected = "`categorical`, `ordered` or `angle`";
            DataError::content(path, "array `factor_kinds`", format!("`{word}`"), expected).into()
        })
    };
    words.iter().map(kind).collect()
}

/// Adds divergences and reconstruction errors of the training codes from the arrays of this part, if they are there.
fn with_posteriors(mut codes: Codes, npz: &mut Npz, part: &str) -> Result<unbraid_metrics::Result<Codes>> {
    let (divergences, errors) = (format!("divergence_{part}"), format!("reconstruction_error_{part}"));
    if npz.contains(&divergences) {
        match codes.with_divergences(floats(npz, &divergences)?) {
            Ok(with) => codes = with,
            Err(error) => return Ok(Err(error)),
        }
    }
    if !npz.contains(&errors) {
        return Ok(Ok(codes));
    }
    Ok(codes.with_reconstruction_errors(floats(npz, &errors)?.into_iter().collect()))
}

/// The test points, on which scores that fit nothing are computed.
fn unseen(codes: &Codes, npz: &mut Npz) -> Result<unbraid_metrics::Result<Codes>> {
    let points =
        if codes.has_factors() { codes.test_points() } else { Codes::unlabelled(floats(npz, "codes_test")?) };
    let points = match points {
        Ok(points) if npz.contains("log_variance_test") => {
            points.with_log_variances(floats(npz, "log_variance_test")?)
        }
        other => other,
    };
    match points {
        Ok(points) => with_posteriors(points, npz, TEST),
        Err(error) => Ok(Err(error)),
    }
}

/// Reads only the means and log-variances of the training points, which UDR compares.
///
/// # Errors
/// If the file is damaged or lacks them.
pub fn read_posteriors(path: &Path) -> Result<(Array2<f64>, Array2<f64>)> {
    let mut npz = Npz::open(path)?;
    Ok((floats(&mut npz, "codes_train")?, floats(&mut npz, "log_variance_train")?))
}

/// Adds the log-variances, reduced to the training rows if the file has them for all rows.
fn with_log_variances(codes: Codes, npz: &mut Npz) -> Result<unbraid_metrics::Result<Codes>> {
    let Some(name) = ["log_variance_train", "log_variance"].into_iter().find(|name| npz.contains(name))
    else {
        return Ok(Ok(codes));
    };
    let all = floats(npz, name)?;
    let rows = codes.codes_train().nrows();
    if name == "log_variance" && all.nrows() == rows + codes.codes_test().nrows() {
        return Ok(codes.with_log_variances(all.slice_axis(Axis(0), (..rows).into()).to_owned()));
    }
    Ok(codes.with_log_variances(all))
}

fn floats(npz: &mut Npz, name: &str) -> Result<Array2<f64>> {
    let array = npz.array(name)?;
    array.expect_axes(2)?;
    let shape = (array.header().shape[0], array.header().shape[1]);
    Ok(Array2::from_shape_vec(shape, array.floats()?).expect(AS_MANY))
}

/// Factors as they stand in a file.
enum Factors {
    Whole(Array2<i64>),
    Real(Array2<f64>),
}

impl Factors {
    fn into_numbers(self) -> Array2<f64> {
        match self {
            Self::Whole(factors) => factors.mapv(|value| value as f64),
            Self::Real(factors) => factors,
        }
    }
}

/// Floats that are all whole numbers are class numbers that some program wrote as floats.
fn factors(npz: &mut Npz, name: &str) -> Result<Factors> {
    if npz.array(name)?.header().element.kind != 'f' {
        return Ok(Factors::Whole(integers(npz, name)?));
    }
    let numbers = floats(npz, name)?;
    Ok(match unbraid_metrics::factors_from_floats("factors", numbers.view()) {
        Ok(whole) => Factors::Whole(whole),
        Err(_) => Factors::Real(numbers),
    })
}

fn integers(npz: &mut Npz, name: &str) -> Result<Array2<i64>> {
    let array = npz.array(name)?;
    array.expect_axes(2)?;
    let shape = (array.header().shape[0], array.header().shape[1]);
    Ok(Array2::from_shape_vec(shape, array.integers()?).expect(AS_MANY))
}

/// Checked by the reader.
const AS_MANY: &str = "as many values as the header's shape has";

const WRITTEN_BY: &str = "written_by";
const US: &str = "unbraid evaluate";

/// Whether a file is a codes file written by [`ScoredPoints::write`].
pub fn is_ours(path: &Path) -> bool {
    let name = |mut npz: Npz| npz.array(WRITTEN_BY)?.strings();
    Npz::open(path).and_then(name).is_ok_and(|names| names == [US])
}

/// The points that scores are computed on, in single precision, as networks compute codes.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPoints {
    /// Codes \[n, units\] that most scores are computed on and learners are fitted to.
    pub codes_train: Array2<f32>,
    /// What is known of their posteriors.
    pub train: Posteriors,
    /// Their factors \[n, factors\]; no columns for data without factors.
    pub factors_train: Array2<i64>,
    /// Codes that learners are tested on; no rows without factors.
    pub codes_test: Array2<f32>,
    /// Their factors.
    pub factors_test: Array2<i64>,
    /// The most likely class of each categorical unit, for the training and the test points.
    pub clusters: Option<(Array2<i64>, Array2<i64>)>,
    /// The names of the factors.
    pub factor_names: Vec<String>,
    /// Their kinds.
    pub factor_kinds: Vec<FactorKind>,
    /// The factors of training and test points as numbers, where that is more than their class numbers.
    pub numbers: Option<(Array2<f64>, Array2<f64>)>,
    /// If the test points are images that the model was not trained on, what is known of their posteriors.
    /// Scores that fit nothing are then computed on them.
    pub unseen: Option<Posteriors>,
}

/// What is known of the posteriors of some points beside the codes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Posteriors {
    /// Logarithms of their variances \[n, units\]; `None` if the codes are not means.
    pub log_variances: Option<Array2<f32>>,
    /// Divergences from the prior \[n, units\]; `None` where it is standard normal.
    pub divergences: Option<Array2<f32>>,
    /// The squared error of a pixel of each point's reconstruction, where a score needs it.
    pub reconstruction_errors: Option<Vec<f64>>,
}

impl Posteriors {
    fn added_to(&self, mut codes: Codes) -> unbraid_metrics::Result<Codes> {
        if let Some(log_variances) = &self.log_variances {
            codes = codes.with_log_variances(log_variances.mapv(f64::from))?;
        }
        if let Some(divergences) = &self.divergences {
            codes = codes.with_divergences(divergences.mapv(f64::from))?;
        }
        match &self.reconstruction_errors {
            Some(errors) => codes.with_reconstruction_errors(errors.clone()),
            None => Ok(codes),
        }
    }

    fn write<W: Write + Seek>(&self, npz: &mut NpzWriter<W>, part: &str) -> io::Result<()> {
        if let Some(log_variances) = &self.log_variances {
            singles(npz, &format!("log_variance_{part}"), log_variances)?;
        }
        if let Some(divergences) = &self.divergences {
            singles(npz, &format!("divergence_{part}"), divergences)?;
        }
        if let Some(errors) = &self.reconstruction_errors {
            let name = format!("reconstruction_error_{part}");
            npz.floats(&name, &[errors.len(), 1], errors.iter().copied())?;
        }
        Ok(())
    }
}

impl ScoredPoints {
    /// Codes without factors.
    pub fn unlabelled(codes: Array2<f32>, posteriors: Posteriors) -> Self {
        let (rows, units) = codes.dim();
        Self {
            codes_train: codes,
            train: posteriors,
            factors_train: Array2::zeros((rows, 0)),
            codes_test: Array2::zeros((0, units)),
            factors_test: Array2::zeros((0, 0)),
            clusters: None,
            factor_names: Vec::new(),
            factor_kinds: Vec::new(),
            numbers: None,
            unseen: None,
        }
    }

    /// The same in double precision, checked.
    ///
    /// # Errors
    /// If a code is not finite, or there are too few.
    pub fn codes(&self) -> unbraid_metrics::Result<Codes> {
        let doubles = |array: &Array2<f32>| array.mapv(f64::from);
        let mut codes = if self.factors_train.ncols() == 0 {
            Codes::unlabelled(doubles(&self.codes_train))?
        } else {
            Codes::new(
                doubles(&self.codes_train),
                self.factors_train.clone(),
                doubles(&self.codes_test),
                self.factors_test.clone(),
            )?
            .with_factor_names(self.factor_names.iter().cloned())?
            .with_factor_kinds(self.factor_kinds.iter().copied())?
        };
        if let Some((train, test)) = &self.clusters {
            codes = codes.with_clusters(train.clone(), test.clone())?;
        }
        if let Some((train, test)) = &self.numbers {
            codes = codes.with_factor_numbers(train.clone(), test.clone())?;
        }
        codes = self.train.added_to(codes)?;
        let Some(posteriors) = &self.unseen else { return Ok(codes) };
        let unseen = if codes.has_factors() {
            codes.test_points()?
        } else {
            Codes::unlabelled(doubles(&self.codes_test))?
        };
        codes.with_unseen(posteriors.added_to(unseen)?)
    }

    pub(super) fn has_reconstruction_errors(&self) -> bool {
        let has = |posteriors: &Posteriors| posteriors.reconstruction_errors.is_some();
        has(&self.train) || self.unseen.as_ref().is_some_and(has)
    }

    /// Writes a codes file.
    ///
    /// # Errors
    /// If it cannot be written, or exists and is to be kept.
    pub fn write(&self, path: &Path, existing: Existing) -> Result {
        files::write(path, existing, |file| {
            let mut npz = NpzWriter::new(file);
            npz.strings(WRITTEN_BY, &[US.to_owned()])?;
            singles(&mut npz, "codes_train", &self.codes_train)?;
            self.train.write(&mut npz, "train")?;
            if let Some(unseen) = &self.unseen {
                npz.strings("split", &[TEST.to_owned()])?;
                unseen.write(&mut npz, TEST)?;
            }
            if self.factors_train.ncols() > 0 {
                let mut factors = |name: &str, factors: &Array2<i64>| {
                    npz.integers(name, &[factors.nrows(), factors.ncols()], factors.iter().copied())
                };
                factors("factors_train", &self.factors_train)?;
                factors("factors_test", &self.factors_test)?;
                if let Some((train, test)) = &self.clusters {
                    factors("clusters_train", train)?;
                    factors("clusters_test", test)?;
                }
                if let Some((train, test)) = &self.numbers {
                    for (name, numbers) in [("factor_values_train", train), ("factor_values_test", test)] {
                        npz.floats(name, &[numbers.nrows(), numbers.ncols()], numbers.iter().copied())?;
                    }
                }
                singles(&mut npz, "codes_test", &self.codes_test)?;
                npz.strings("factor_names", &self.factor_names)?;
                let kinds: Vec<String> =
                    self.factor_kinds.iter().map(|kind| kind.word().to_owned()).collect();
                npz.strings("factor_kinds", &kinds)?;
            } else if self.unseen.is_some() {
                singles(&mut npz, "codes_test", &self.codes_test)?;
            }
            npz.finish()?;
            Ok(())
        })
    }
}

fn singles<W: Write + Seek>(npz: &mut NpzWriter<W>, name: &str, array: &Array2<f32>) -> io::Result<()> {
    let out = npz.array(name, ElementType::little('f', 4), &[array.nrows(), array.ncols()])?;
    let bytes: Vec<u8> = array.iter().flat_map(|value| value.to_le_bytes()).collect();
    out.write_all(&bytes)
}
