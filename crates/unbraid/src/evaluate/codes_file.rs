//! The codes file: an `.npz` with codes and factors, from unbraid or from anywhere else.
//!
//! Arrays `codes_train` \[n, units\], `factors_train` \[n, factors\], `codes_test` and `factors_test`; or only `codes` and
//! `factors`, of which the first two thirds train. Optional: `log_variance_train` (or `log_variance`) for scores that
//! need posteriors, `clusters_train` and `clusters_test` \[n, categorical units\] with the most likely class of each
//! categorical unit, and `factor_names`. Factors are whole numbers; without them only the unsupervised scores apply.
//! Files that we write also have `written_by`, by which they are recognised.

use crate::error::{Error, Result};
use crate::files::{self, Existing};
use ndarray::{Array2, Axis};
use std::io::{self, Seek, Write};
use std::path::Path;
use unbraid_data::DataError;
use unbraid_data::formats::npy::ElementType;
use unbraid_data::formats::npz::Npz;
use unbraid_data::formats::npz_writer::NpzWriter;
use unbraid_metrics::Codes;

/// Reads a codes file.
///
/// # Errors
/// If the file is damaged, lacks the arrays, or they do not fit each other; the message lists the arrays found.
pub fn read(path: &Path) -> Result<Codes> {
    let mut npz = Npz::open(path)?;
    let with_path = |source: unbraid_metrics::MetricsError| Error::Scoring { path: path.to_owned(), source };
    let codes = if npz.contains("codes_train") {
        let train = floats(&mut npz, "codes_train")?;
        if npz.contains("factors_train") {
            let factors_train = integers(&mut npz, "factors_train")?;
            let (test, factors_test) = (floats(&mut npz, "codes_test")?, integers(&mut npz, "factors_test")?);
            Codes::new(train, factors_train, test, factors_test)
        } else {
            Codes::unlabelled(train)
        }
    } else if npz.contains("codes") {
        let codes = floats(&mut npz, "codes")?;
        if npz.contains("factors") {
            let factors = integers(&mut npz, "factors")?;
            Codes::split(codes.view(), factors.view())
        } else {
            Codes::unlabelled(codes)
        }
    } else {
        let found = format!("only the arrays {}", npz.names().join(", "));
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
    if !npz.contains("factor_names") {
        return Ok(codes);
    }
    codes.with_factor_names(npz.array("factor_names")?.strings()?).map_err(with_path)
}

/// Reads the means and the log-variances of the training points, and nothing else: what UDR compares.
///
/// # Errors
/// If the file is damaged or lacks them.
pub fn read_posteriors(path: &Path) -> Result<(Array2<f64>, Array2<f64>)> {
    let mut npz = Npz::open(path)?;
    Ok((floats(&mut npz, "codes_train")?, floats(&mut npz, "log_variance_train")?))
}

/// Adds the log-variances, cut to the training rows where the file has them for all rows.
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

fn integers(npz: &mut Npz, name: &str) -> Result<Array2<i64>> {
    let array = npz.array(name)?;
    array.expect_axes(2)?;
    let shape = (array.header().shape[0], array.header().shape[1]);
    Ok(Array2::from_shape_vec(shape, array.integers()?).expect(AS_MANY))
}

/// The reader has checked it.
const AS_MANY: &str = "as many values as the header's shape has";

const WRITTEN_BY: &str = "written_by";
const US: &str = "unbraid evaluate";

/// Whether a file is a codes file that [`ScoredPoints::write`] wrote.
pub fn is_ours(path: &Path) -> bool {
    let name = |mut npz: Npz| npz.array(WRITTEN_BY)?.strings();
    Npz::open(path).and_then(name).is_ok_and(|names| names == [US])
}

/// The points that scores are computed on, in the single precision in which networks compute codes.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPoints {
    /// Codes \[n, units\] that most scores are computed on and learners are fitted to.
    pub codes_train: Array2<f32>,
    /// Logarithms of their posterior variances; `None` where codes are no means.
    pub log_variance_train: Option<Array2<f32>>,
    /// Their factors \[n, factors\]; no columns for data without factors.
    pub factors_train: Array2<i64>,
    /// Codes that learners are judged on; no rows without factors.
    pub codes_test: Array2<f32>,
    /// Their factors.
    pub factors_test: Array2<i64>,
    /// The most likely class of each categorical unit, of both.
    pub clusters: Option<(Array2<i64>, Array2<i64>)>,
    /// The names of the factors.
    pub factor_names: Vec<String>,
}

impl ScoredPoints {
    /// Codes without factors.
    pub fn unlabelled(codes: Array2<f32>, log_variances: Option<Array2<f32>>) -> Self {
        let (rows, units) = codes.dim();
        Self {
            codes_train: codes,
            log_variance_train: log_variances,
            factors_train: Array2::zeros((rows, 0)),
            codes_test: Array2::zeros((0, units)),
            factors_test: Array2::zeros((0, 0)),
            clusters: None,
            factor_names: Vec::new(),
        }
    }

    /// The same in the precision of the scores, checked.
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
        };
        if let Some((train, test)) = &self.clusters {
            codes = codes.with_clusters(train.clone(), test.clone())?;
        }
        match &self.log_variance_train {
            Some(log_variances) => codes.with_log_variances(doubles(log_variances)),
            None => Ok(codes),
        }
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
            if let Some(log_variances) = &self.log_variance_train {
                singles(&mut npz, "log_variance_train", log_variances)?;
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
                singles(&mut npz, "codes_test", &self.codes_test)?;
                npz.strings("factor_names", &self.factor_names)?;
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
