//! The server's own refusals, by their codes and texts.

use limiter_core::ErrorKind;

/// Codes with which a server says that it did not do what it was asked.
///
/// A code that is not here is *uncertain*: it may come from a proxy, which can answer after the
/// server has run the script and the reply was lost on the way.
const REFUSED: &[&str] = &[
    // The server is not able to serve yet, or any more.
    "LOADING",
    "BUSY",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "READONLY",
    "OOM",
    "MISCONF",
    "NOREPLICAS",
    // The server does not serve this key.
    "MOVED",
    "ASK",
    "TRYAGAIN",
    "CROSSSLOT",
    "REDIRECT",
    // The server does not serve this client.
    "NOAUTH",
    "WRONGPASS",
    "NOPERM",
    "DENIED",
    "NOPROTO",
    // The script was not there, or was part of a transaction that was thrown away.
    "NOSCRIPT",
    "EXECABORT",
];

/// Beginnings of texts under the general code ERR that refuse a request before it runs. ERR with
/// any other text is *uncertain*, for the same reason as an unknown code.
const REFUSED_IN_GENERAL: &[&str] = &[
    "max number of clients",
    "unknown command",
    "wrong number of arguments",
    // A user who may run scripts, but not every command in them: 6.2 and 7.0, then later ones.
    "The user executing the script",
    "ACL failure in script",
];

/// The scripts' own codes: their first write failed, or a later one did.
pub(crate) const NOT_WRITTEN: &str = "NOTWRITTEN";
const HALF_WRITTEN: &str = "HALFWRITTEN";

/// Where a script runs, or is compiled, errors name it so.
const SCRIPT: &str = "user_script";

/// Whether an error names a place in a script.
pub(crate) fn is_in_script(text: &str) -> bool {
    text.contains(SCRIPT)
}

/// The kind of an error with a code of its own.
pub(crate) fn coded(code: &str, detail: Option<&str>) -> ErrorKind {
    match code {
        "WRONGTYPE" => ErrorKind::Corrupt,
        NOT_WRITTEN => ErrorKind::Unavailable,
        HALF_WRITTEN => ErrorKind::Uncertain,
        code if REFUSED.contains(&code) => ErrorKind::Unavailable,
        // From 6.2, a read's refusal that the script handed on: `@user_script: 3: -NOPERM …`.
        code if code.starts_with('@') => general(&format!("{code} {}", detail.unwrap_or_default())),
        _ => match detail {
            // From 7.0 on the code leads and the text ends in `script: …, on @user_script:12.`
            Some(text) if text.contains(SCRIPT) => ErrorKind::Unavailable,
            _ => ErrorKind::Uncertain,
        },
    }
}

/// The kind of an error under the general code ERR.
///
/// On 6.2 every error inside a script comes so, with its own code in the text:
/// `Error running script (call to f_…): @user_script:62: @user_script: 62: -OOM command …`.
/// Whatever the code is, the script ended in an error, and so had not charged.
pub(crate) fn general(text: &str) -> ErrorKind {
    if text.contains(SCRIPT) {
        return match code_in_script(text) {
            Some("WRONGTYPE") => ErrorKind::Corrupt,
            _ => ErrorKind::Unavailable,
        };
    }
    let refused = REFUSED_IN_GENERAL
        .iter()
        .any(|start| text.starts_with(start));
    if refused {
        ErrorKind::Unavailable
    } else {
        ErrorKind::Uncertain
    }
}

/// The code after the last place in the script that the text names.
fn code_in_script(text: &str) -> Option<&str> {
    let place = text
        .rsplit(SCRIPT)
        .next()?
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | ' ' | '-'));
    place.split(' ').next()
}
