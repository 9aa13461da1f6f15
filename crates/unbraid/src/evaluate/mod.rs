//! From codes to scores. Metrics see arrays only; where the arrays come from is decided here.

pub mod codes_file;
pub mod log_likelihood;
pub mod table;
