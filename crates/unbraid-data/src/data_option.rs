//! The options of data sets, as messages and documentation describe them.

/// An option of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOption {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes, in words.
    pub values: &'static str,
    /// Its value if it is not given, or what happens then.
    pub default: &'static str,
    /// What it means, in one line.
    pub meaning: &'static str,
}

impl DataOption {
    pub(crate) const fn new(
        name: &'static str,
        values: &'static str,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, values, default, meaning }
    }

    /// Everything about it but its name, in one line.
    pub fn help(&self) -> String {
        format!("{} ({}; default {})", self.meaning, self.values, self.default)
    }
}

/// The values of an option that is a list of names.
pub(crate) const NAMES: &str = "names joined by `+`, or a list of them";

/// The values of an option that is a truth value.
pub(crate) const BOOLEAN: &str = "true or false";
