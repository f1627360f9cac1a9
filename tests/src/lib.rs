//! Real servers for whole-system tests.
