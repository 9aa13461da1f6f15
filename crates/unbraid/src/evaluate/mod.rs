//! From codes to scores. Metrics see arrays only; where the arrays come from is decided here.

pub mod codes_file;
pub mod table;
