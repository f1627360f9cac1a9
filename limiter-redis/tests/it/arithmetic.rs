//! The bucket's arithmetic in Lua numbers against integers of 128 bits.

use limiter_core::MAX_UNITS;
use mlua::{Function, Lua, Table};
use proptest::prelude::*;

const YEAR_MS: u64 = 366 * 24 * 3600 * 1000;

/// The file's own text up to what it returns, returning the two functions that compute.
fn text() -> String {
    let file = include_str!("../../src/lua/token_bucket.lua");
    let (functions, _) = file.rsplit_once("\nreturn {").unwrap();
    format!("local MAX_UNITS = {MAX_UNITS}\n{functions}\nreturn come_back, down_to")
}

thread_local! {
    static FUNCTIONS: (Lua, Function, Function) = {
        let lua = Lua::new();
        let (come_back, down_to) = lua.load(text()).eval().unwrap();
        (lua, come_back, down_to)
    };
}

fn come_back(elapsed: u64, limit: u64, length: u64, fraction: u64) -> (u64, u64) {
    let numbers = [elapsed, limit, length, fraction].map(|number| number as f64);
    let (units, left): (f64, f64) = FUNCTIONS
        .with(|(_, function, _)| function.call(mlua::Variadic::from_iter(numbers)).unwrap());
    (units as u64, left as u64)
}

fn down_to(used: u64, bucket: (u64, u64), limit: u64, length: u64) -> u64 {
    FUNCTIONS.with(|(lua, _, function)| {
        let table = |fields: &[(&str, u64)]| -> Table {
            let fields = fields.iter().map(|(name, number)| (*name, *number as f64));
            lua.create_table_from(fields).unwrap()
        };
        let bucket = table(&[("used", bucket.0), ("fraction", bucket.1), ("at", 0)]);
        let ask = table(&[("limit", limit), ("length", length)]);
        function.call::<f64>((used as f64, bucket, ask)).unwrap() as u64
    })
}

fn expected_back(elapsed: u64, limit: u64, length: u64, fraction: u64) -> (u64, u64) {
    let parts = u128::from(elapsed) * u128::from(limit) + u128::from(fraction);
    let length = u128::from(length);
    ((parts / length) as u64, (parts % length) as u64)
}

fn expected_down(units: u64, fraction: u64, limit: u64, length: u64) -> u64 {
    let parts = (u128::from(units) * u128::from(length)).saturating_sub(u128::from(fraction));
    match u128::from(limit) {
        0 if parts > 0 => length,
        0 => 0,
        limit => parts.div_ceil(limit).min(u128::from(length)) as u64,
    }
}

/// Numbers of every magnitude, and those next to the bounds.
fn up_to(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        (0..=most.ilog2()).prop_flat_map(move |bits| 0..=(2_u64 << bits).min(most)),
        (0..=3.min(most)).prop_map(move |below| most - below),
        0..=most,
    ]
}

fn numbers() -> impl Strategy<Value = (u64, u64, u64, u64)> {
    let length = up_to(YEAR_MS - 1).prop_map(|length| length + 1);
    (up_to(MAX_UNITS), length).prop_flat_map(|(limit, length)| {
        (
            up_to((length - 1).max(1)).prop_map(move |elapsed| elapsed.min(length - 1)),
            Just(limit),
            Just(length),
            up_to((length - 1).max(1)).prop_map(move |fraction| fraction.min(length - 1)),
        )
    })
}

/// The same on the Lua engine of a real server: the corners of all numbers, and what lies beside them.
#[tokio::test]
async fn what_comes_back_is_exact_on_a_real_server() {
    let limits = [0, 1, 2, 1000, (1 << 52) + 1, MAX_UNITS - 1, MAX_UNITS];
    let lengths = [1, 7, 1000, 131_071, 131_072, 131_073, YEAR_MS - 1, YEAR_MS];
    let mut all = Vec::new();
    for length in lengths {
        for limit in limits {
            let inside = [0, 1, 131_071, 131_072, length / 3, length / 2, length - 1];
            let inside = inside.into_iter().filter(|number| *number < length);
            for elapsed in inside.clone() {
                all.extend(
                    inside
                        .clone()
                        .map(|fraction| (elapsed, limit, length, fraction)),
                );
            }
        }
    }
    let script = text().replace(
        "return come_back, down_to",
        "local out = {} for i = 1, #ARGV, 4 do \
         local units, left = come_back(ARGV[i] + 0, ARGV[i + 1] + 0, ARGV[i + 2] + 0, ARGV[i + 3] + 0) \
         out[#out + 1] = units out[#out + 1] = left end return out",
    );
    let server = crate::server::Server::start();
    let mut connection = server.connection().await;
    for some in all.chunks(500) {
        let mut eval = redis::cmd("EVAL");
        eval.arg(&script).arg(0);
        for (elapsed, limit, length, fraction) in some {
            eval.arg(elapsed).arg(limit).arg(length).arg(fraction);
        }
        let answers: Vec<u64> = eval.query_async(&mut connection).await.unwrap();
        for (numbers, answer) in some.iter().zip(answers.chunks(2)) {
            let (elapsed, limit, length, fraction) = *numbers;
            let exact = expected_back(elapsed, limit, length, fraction);
            assert_eq!((answer[0], answer[1]), exact, "{numbers:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_comes_back_is_exact((elapsed, limit, length, fraction) in numbers()) {
        let exact = expected_back(elapsed, limit, length, fraction);
        prop_assert_eq!(come_back(elapsed, limit, length, fraction), exact);
    }

    #[test]
    fn when_enough_has_come_back_is_exact(
        (_, limit, length, fraction) in numbers(),
        used in up_to(MAX_UNITS),
        target in up_to(MAX_UNITS),
    ) {
        let exact = expected_down(used.saturating_sub(target), fraction, limit, length);
        let exact = if used <= target { 0 } else { exact };
        prop_assert_eq!(down_to(target, (used, fraction), limit, length), exact);
    }
}
