//! Pictures and pages. This room sees data, trained models and results; it never trains or scores anything itself.
//!
//! * [`canvas`], [`svg`]: paper to draw on, pixels with words in our own font and charts with words in the page's.
//! * [`gallery`], [`tiles`], [`animation`]: images in rows, and in motion.
//! * [`frame`], [`rows`], [`axis`], [`colour`]: what charts share; [`lines`], [`bands`], [`labelled`], [`box_plot`],
//!   [`shares`], [`histogram`], [`heat_map`], [`dots`], [`density`]: one file for each kind of chart, a function of arrays.
//! * [`latents`], [`subject`], [`history`]: what is pictured: latent values, a run with some of its data, its log.
//! * [`image_figures`], [`latent_figures`]: the figures of the papers, made of these.
//! * [`html`], [`figure`], [`page`], [`document`]: from figures to `report.html`.
//! * [`comparison`], [`comparison_page`]: several runs side by side.
//! * [`study`]: the analyses of a study as figures and tables.
//! * [`sheet`], [`scatter`]: pictures of data alone, for `unbraid data show`.

pub mod animation;
pub mod axis;
pub mod bands;
pub mod box_plot;
pub mod canvas;
pub mod colour;
pub mod comparison;
pub mod comparison_page;
pub mod density;
pub mod document;
pub mod dots;
pub mod figure;
pub mod frame;
pub mod gallery;
pub mod heat_map;
pub mod histogram;
pub mod history;
pub mod html;
pub mod image_figures;
pub mod labelled;
pub mod latent_figures;
pub mod latents;
pub mod lines;
pub mod page;
pub mod rows;
pub mod scatter;
pub mod shares;
pub mod sheet;
pub mod study;
pub mod subject;
pub mod svg;
pub mod tiles;
