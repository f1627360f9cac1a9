//! Random steps: well-formed commands from templates, and damaged ones.

use limiter_sim::server::{Request, Role};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::case::Step;
use crate::scripts;

/// Templates of commands, separated by bars. Words in capitals are commands or options; these are filled in:
/// `k` key, `v` value, `i` integer, `f` number, `d` decimal that an 80-bit number holds, `s` seconds, `m`
/// milliseconds, `as` and `am` the same as instants, `h` field or member, `r` rank or index, `b` bound of a
/// score range.
const COMMANDS: &str = include_str!("commands.txt");

/// Transactions and limits, in the proportion in which they should turn up.
const TRANSACTIONS: &str = include_str!("transactions.txt");

fn template(list: &'static str) -> impl Strategy<Value = Vec<String>> {
    let all: Vec<&str> = list.lines().flat_map(|line| line.split(" | ")).collect();
    select(all).prop_flat_map(from_template)
}

#[rustfmt::skip]
pub(crate) const KEYS: &[&str] = &[
    "a", "a", "b", "b", "c", "ab", "",
];

#[rustfmt::skip]
pub(crate) const VALUES: &[&str] = &[
    "", "0", "1", "-5", "10", "abc", "3.5", "1e3", " 1", "1 ", "01", "+1", "-0", "0x10", "inf", "nan",
    "hello world", "a\r\nb", "\u{e9}\u{0}x", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "18446744073709551616", "v0123456789012345678901234567890123456789", "*", "%s",
];

#[rustfmt::skip]
const INTEGERS: &[&str] = &[
    "0", "1", "1", "2", "5", "-1", "-3", "10", "100", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "x", "", "1.5", "+1", "01",
];

#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "0", "1", "2", "3", "-1", "0.5", "1.5", "-2.25", "0.1", "3.0e2", "5e-1", "inf", "-inf", "+inf", "nan",
    "x", "", "1e400", "1e-400", "9007199254740993", "1e17", "1e20", "123456789.125", " 1", "1 ", "0x10",
    "-0", "1e-7", ".5", "5.", "+1", "infinity", "1e", "--1",
];

#[rustfmt::skip]
const DECIMALS: &[&str] = &[
    "0", "1", "-1", "0.5", "1.5", "-2.25", "0.1", "0.2", "3.0e2", "5e-1", "inf", "-inf", "nan", "x", "",
    "1e17", "100.5", "123456789.125", " 1", "1 ", "-0", "1e-7", ".5", "5.", "+1",
];

#[rustfmt::skip]
const SECONDS: &[&str] = &[
    "1000", "2000", "100000", "5000", "9223372036854775807", "9223372036854776", "9223372036854775", "0",
    "-1", "x", "1.5", "-9223372036854775808",
];

#[rustfmt::skip]
const MILLISECONDS: &[&str] = &[
    "1000000", "2000000", "100000000", "5000000", "9223372036854775807", "9223370000000000000", "0", "-1",
    "x", "", "-9223372036854775808",
];

#[rustfmt::skip]
const INSTANTS_S: &[&str] = &[
    "4102444800", "4102444900", "5000000000", "1", "0", "-1", "9223372036854775807", "9223372036854776",
    "x",
];

#[rustfmt::skip]
const INSTANTS_MS: &[&str] = &[
    "4102444800000", "4102444900000", "5000000000000", "1", "0", "-1", "9223372036854775807",
    "9223372036854775808", "x",
];

#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "f", "g", "f", "g", "h", "1", "2", "10", "", "-1", "x y",
];

#[rustfmt::skip]
const RANKS: &[&str] = &[
    "0", "1", "2", "-1", "-2", "5", "100", "-100", "x", "", "9223372036854775807", "-9223372036854775808",
];

#[rustfmt::skip]
const BOUNDS: &[&str] = &[
    "0", "1", "2", "-inf", "+inf", "(1", "(0.5", "5", "-1", "(", "x", "nan", "inf", "(2",
];

fn word(token: &str) -> BoxedStrategy<String> {
    let pool = match token {
        "k" => KEYS,
        "v" => VALUES,
        "i" => INTEGERS,
        "f" => NUMBERS,
        "d" => DECIMALS,
        "s" => SECONDS,
        "m" => MILLISECONDS,
        "as" => INSTANTS_S,
        "am" => INSTANTS_MS,
        "h" => FIELDS,
        "r" => RANKS,
        "b" => BOUNDS,
        other => return Just(other.to_owned()).boxed(),
    };
    select(pool).prop_map(str::to_owned).boxed()
}

fn from_template(template: &'static str) -> BoxedStrategy<Vec<String>> {
    template.split(' ').map(word).collect::<Vec<_>>().boxed()
}

/// What is done to a well-formed command.
#[derive(Clone, Copy, Debug)]
enum Damage {
    None,
    DropLast,
    Repeat,
    Extra,
    LowerCase,
    Replace,
}

fn command() -> impl Strategy<Value = Vec<String>> {
    let damage = prop_oneof![
        20 => Just(Damage::None), 1 => Just(Damage::DropLast), 1 => Just(Damage::Repeat), 1 => Just(Damage::Extra),
        1 => Just(Damage::LowerCase), 1 => Just(Damage::Replace),
    ];
    let words = template(COMMANDS);
    (words, damage, select(VALUES), any::<prop::sample::Index>()).prop_map(
        |(mut words, damage, value, at)| {
            match damage {
                Damage::None => {}
                Damage::DropLast if words.len() > 1 => words.truncate(words.len() - 1),
                Damage::DropLast => {}
                Damage::Repeat => words.extend(words.last().cloned()),
                Damage::Extra => words.push(value.to_owned()),
                Damage::LowerCase => words
                    .iter_mut()
                    .for_each(|word| word.make_ascii_lowercase()),
                Damage::Replace => {
                    let at = at.index(words.len());
                    if at > 0 {
                        value.clone_into(&mut words[at]);
                    }
                }
            }
            tame(&mut words);
            without_wildcards(&mut words);
            words
        },
    )
}

/// Takes out what cannot be compared: databases other than the first, cursors, waiting without end, and
/// deadlines that pass while the case runs.
fn tame(words: &mut [String]) {
    let number = |at: usize| {
        words
            .get(at)
            .and_then(|word| word.trim().parse::<i64>().ok())
    };
    let soon = |at: usize| number(at).is_some_and(|ms| (1..10_000).contains(&ms));
    let px = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case("PX"))
        .map_or(0, |at| at + 1);
    let (at, value) = match words[0].to_ascii_uppercase().as_str() {
        "SELECT" if number(1).is_some_and(|index| (1..16).contains(&index)) => (1, "0"),
        "SCAN" if words.len() > 1 => (1, "0"),
        // It tells the number of the connection.
        "HELLO" if words.len() == 1 => (0, "PING"),
        "WAIT" if number(2).is_some_and(|timeout| timeout >= 0) => (2, "1"),
        "PEXPIRE" | "PSETEX" if soon(2) => (2, "1000000"),
        _ if px > 0 && soon(px) => (px, "1000000"),
        _ => return,
    };
    value.clone_into(&mut words[at]);
}

/// The settings of a server are more than those of the model.
fn without_wildcards(words: &mut [String]) {
    if words[0].eq_ignore_ascii_case("SCAN") && words.len() > 3 {
        // One call must see all keys.
        words
            .iter_mut()
            .skip(2)
            .filter(|word| word.parse::<u32>().is_ok_and(|count| count > 0))
            .for_each(|word| {
                "1000".clone_into(word);
            });
    }
    if words[0].eq_ignore_ascii_case("CONFIG") {
        words
            .iter_mut()
            .filter(|word| *word == "*")
            .for_each(|word| "x".clone_into(word));
    }
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        12 => command().prop_map(Request::new),
        3 => template(TRANSACTIONS).prop_map(Request::new),
        6 => scripts::request(),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let connection = prop_oneof![3 => Just(0_u32), 1 => Just(1_u32)];
    prop_oneof![
        80 => (connection, request()).prop_map(|(connection, request)| Step::Ask(connection, request)),
        1 => (0_u32..2).prop_map(Step::Reconnect),
        1 => Just(Step::Role(Role::Replica)),
        2 => Just(Step::Role(Role::Primary)),
    ]
}

/// A random case.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..30)
}
