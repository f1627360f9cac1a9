//! Situations that random sequences meet too rarely, or that need the real clock.

use std::time::Duration;

use limiter_sim::server::{Config, Node, Reply, Request};

use crate::case::now_ms;
use crate::client::Client;
use crate::real::{Server, with_each};

fn wait_until_gone(admin: &mut Client, key: &str) {
    for _ in 0..1_000 {
        if admin.words(["EXISTS", key]) == Reply::Int(0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("{key} does not expire");
}

fn model(server: &Server) -> Node {
    Node::new(Config::new(server.version)).expect("a valid setting")
}

/// The replies of the last request, on both sides.
fn both<const N: usize>(client: &mut Client, node: &mut Node, words: [&str; N]) -> Reply {
    let request = Request::new(words);
    let (real, model) = (client.ask(&request), node.execute(0, &request));
    assert_eq!(model, real, "{request}");
    real
}

#[test]
fn exec_aborts_when_a_watched_key_expires() {
    with_each(|server| {
        let (mut client, mut admin, mut node) = (server.connect(), server.connect(), model(server));
        node.set_time(1_000);
        both(&mut client, &mut node, ["SET", "k", "v", "PX", "20"]);
        both(&mut client, &mut node, ["WATCH", "k"]);
        wait_until_gone(&mut admin, "k");
        node.set_time(1_021);
        both(&mut client, &mut node, ["MULTI"]);
        both(&mut client, &mut node, ["PING"]);
        assert_eq!(both(&mut client, &mut node, ["EXEC"]), Reply::NilArray);
    });
}

#[test]
fn exec_aborts_when_a_watched_key_came_and_went() {
    with_each(|server| {
        let (mut client, mut admin, mut node) = (server.connect(), server.connect(), model(server));
        node.set_time(1_000);
        both(&mut client, &mut node, ["WATCH", "k"]);
        admin.words(["SET", "k", "v", "PX", "5"]);
        node.execute(1, &Request::new(["SET", "k", "v", "PX", "5"]));
        wait_until_gone(&mut admin, "k");
        node.set_time(1_006);
        both(&mut client, &mut node, ["MULTI"]);
        both(&mut client, &mut node, ["PING"]);
        assert_eq!(both(&mut client, &mut node, ["EXEC"]), Reply::NilArray);
    });
}

#[test]
fn random_numbers_are_those_of_the_server() {
    with_each(|server| {
        let (mut client, mut node) = (server.connect(), model(server));
        for script in [
            "return {math.random(1000), math.random(5, 9), tostring(math.random())}",
            "return math.random(10)",
            "math.randomseed(7) return {math.random(1000), math.random(1000)}",
            "return {math.random(1000), math.random(1000)}",
            "return math.random(0)",
        ] {
            both(&mut client, &mut node, ["EVAL", script, "0"]);
        }
    });
}

#[test]
fn json_is_read_and_written_as_by_the_server() {
    let texts = [
        "x",
        "",
        "{}x",
        "[1,2,[3]]",
        "[1,2,",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{1:1}",
        "\"abc",
        "\"a\\qc\"",
        "\"a\\u00e9\\ud83d\\ude00\"",
        "\"a\\ud83d\"",
        " true ",
        "inf",
        "nan",
        "+1",
        "01",
        "0x10",
        "-",
        "1e3",
        "-1.5e-3x",
        "null",
        "[]",
        "{\"a\":[1,{\"b\":null}]}",
    ];
    with_each(|server| {
        let (mut client, mut node) = (server.connect(), model(server));
        for text in texts {
            let script = "local ok, v = pcall(cjson.decode, ARGV[1]) return {tostring(v), type(v)}";
            if !text.starts_with(['{', '[']) || text.ends_with('x') {
                both(&mut client, &mut node, ["EVAL", script, "0", text]);
            }
            both(
                &mut client,
                &mut node,
                [
                    "EVAL",
                    "return cjson.encode(cjson.decode(ARGV[1]))",
                    "0",
                    text,
                ],
            );
        }
    });
}

#[test]
fn the_clock_is_the_servers() {
    with_each(|server| {
        let (mut client, mut node) = (server.connect(), model(server));
        node.set_time(1_234_567_890_123);
        let parts = ["1234567890", "123000"].map(|part| Reply::Bulk(part.into()));
        assert_eq!(
            node.execute(0, &Request::new(["TIME"])),
            Reply::array(parts.into())
        );
        assert!(now_ms(&client.words(["TIME"])) > 1_600_000_000_000);
    });
}

#[test]
fn a_script_that_was_pushed_out_is_unknown() {
    with_each(|server| {
        let (mut client, mut node) = (server.connect(), model(server));
        let first = "return 'first'";
        both(&mut client, &mut node, ["EVAL", first, "0"]);
        let Reply::Bulk(kept) = both(&mut client, &mut node, ["SCRIPT", "LOAD", "return 'kept'"])
        else {
            panic!("SCRIPT LOAD names the script");
        };
        for number in 0..501 {
            both(
                &mut client,
                &mut node,
                ["EVAL", &format!("return {number}"), "0"],
            );
        }
        both(
            &mut client,
            &mut node,
            ["EVALSHA", "9e0b1fc0e5a3a4a9c9f1d6c9ac0e0a1bd6c29e29", "0"],
        );
        both(&mut client, &mut node, ["EVALSHA", &kept.lossy(), "0"]);
    });
}

/// Numbers without end: all bit patterns, and quotients as limiters store them.
fn numbers() -> impl Iterator<Item = f64> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let any = move |at: u32| match at % 3 {
        0 => f64::from_bits(next()),
        1 => (next() % 10_000) as f64 / (1 + next() % 1_000) as f64,
        _ => (next() % 1_000_000_000) as f64 / 1_000_000.0,
    };
    (0..).map(any).filter(|number| number.is_finite())
}

#[test]
fn floating_point_numbers_have_the_digits_of_the_server() {
    let script = "local t = {} for i, n in ipairs(ARGV) do t[i] = redis.call('ECHO', tonumber(n)) end return t";
    with_each(|server| {
        let (mut client, mut node) = (server.connect(), model(server));
        let mut numbers = numbers();
        for _ in 0..50 {
            let texts: Vec<String> = numbers
                .by_ref()
                .take(100)
                .map(|number| format!("{number:e}"))
                .collect();
            let words = ["EVAL".to_owned(), script.to_owned(), "0".to_owned()]
                .into_iter()
                .chain(texts.iter().cloned());
            let request = Request::new(words);
            assert_eq!(node.execute(0, &request), client.ask(&request));
            let pairs = texts
                .iter()
                .cloned()
                .enumerate()
                .flat_map(|(at, text)| [text, format!("m{at}")]);
            let request =
                Request::new(["ZADD".to_owned(), "z".to_owned()].into_iter().chain(pairs));
            assert_eq!(node.execute(0, &request), client.ask(&request));
            both(
                &mut client,
                &mut node,
                ["ZRANGE", "z", "0", "-1", "WITHSCORES"],
            );
            both(&mut client, &mut node, ["DEL", "z"]);
        }
    });
}
