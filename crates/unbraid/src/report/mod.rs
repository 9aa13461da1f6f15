//! Pictures and pages. This room sees data and results; it never trains or measures anything itself.

pub mod canvas;
pub mod scatter;
pub mod sheet;
