//! Tests of the library against golden numbers, closed forms and other implementations.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adversarial_training;
mod adversaries;
mod composed_objectives;
mod configuration_reference;
mod extensions;
mod fuzz_seeds;
mod gaussians;
mod golden;
mod import;
mod independent_components;
mod joint_vae;
mod latents;
mod maximum_entropy;
mod objective_identities;
mod objective_training;
mod objectives;
mod onnx;
mod posteriors;
mod presets;
mod principal_components;
mod prior_training;
mod priors;
mod pytorch_weights;
mod samples;
