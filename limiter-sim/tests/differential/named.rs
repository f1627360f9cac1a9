//! Situations that random sequences meet too rarely.
