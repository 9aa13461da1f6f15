//! Charts as SVG: one file for each kind, each a function of arrays.
//!
//! * [`svg`] has shapes, text and tooltips; [`axis`] goes from values to coordinates.
//! * [`frame`] and [`row_frame`] are what charts share: title, axes and legend.
//! * [`lines`], [`bands`], [`labelled_points`], [`box_plot`], [`stacked_shares`], [`histogram`], [`heat_map`]
//!   and [`dots`] are the charts.

pub(crate) mod axis;
pub(crate) mod bands;
pub(crate) mod box_plot;
pub(crate) mod dots;
pub(crate) mod frame;
pub(crate) mod heat_map;
pub(crate) mod histogram;
pub(crate) mod labelled_points;
pub(crate) mod lines;
pub(crate) mod row_frame;
pub(crate) mod stacked_shares;
pub(crate) mod svg;
