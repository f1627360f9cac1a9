//! Placeholder until its first vertical step.
