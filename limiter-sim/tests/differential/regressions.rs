//! Each disagreement that was found, as the shortest sequence that showed it.
