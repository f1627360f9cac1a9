//! Patterns as `KEYS` and `SCAN` read them.

/// Whether a key matches a pattern of `*`, `?`, `[a-z]`, `[^a]` and `\x`.
pub(crate) fn matches(pattern: &[u8], key: &[u8]) -> bool {
    match (pattern, key) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=key.len()).any(|at| matches(rest, &key[at..])),
        ([b'?', rest @ ..], [_, tail @ ..]) => matches(rest, tail),
        ([b'[', rest @ ..], [byte, tail @ ..]) => {
            let (found, rest) = class(rest, *byte);
            found && matches(rest, tail)
        }
        ([b'\\', wanted, rest @ ..], [byte, tail @ ..])
        | ([wanted, rest @ ..], [byte, tail @ ..]) => wanted == byte && matches(rest, tail),
        _ => false,
    }
}

/// Whether a byte is in the class that begins here, and what follows the class.
fn class(mut pattern: &[u8], byte: u8) -> (bool, &[u8]) {
    let negated = pattern.first() == Some(&b'^');
    if negated {
        pattern = &pattern[1..];
    }
    let mut found = false;
    loop {
        pattern = match pattern {
            [] => break,
            [b']', rest @ ..] => {
                pattern = rest;
                break;
            }
            [b'\\', one, rest @ ..] => {
                found |= *one == byte;
                rest
            }
            [from, b'-', to, rest @ ..] => {
                found |= (*from.min(to)..=*from.max(to)).contains(&byte);
                rest
            }
            [one, rest @ ..] => {
                found |= *one == byte;
                rest
            }
        };
    }
    (found != negated, pattern)
}
