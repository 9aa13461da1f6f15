//! unbraid.
