//! Any script of anybody's.

use std::fs;
use std::path::PathBuf;

use super::{Run, run, run_words};

/// One decision in one script.
const ATOMIC: &str = "
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
if count >= tonumber(ARGV[1]) then return 0 end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1";

/// The deadline comes anew with every admission.
const IMMORTAL: &str = "
if redis.call('INCR', KEYS[1]) > tonumber(ARGV[1]) then return 0 end
return 1";

/// Forgets to count.
const GENEROUS: &str = "redis.call('SET', KEYS[1], 'x', 'PX', ARGV[2]) return 1";

fn file(name: &str, source: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, source).expect("the build's own directory can be written to");
    path
}

/// Explores a script with limit 2 and three workers.
fn explore(name: &str, source: &str, rest: &[&str]) -> Run {
    let path = file(name, source);
    let path = path.to_str().expect("text");
    let usual = [
        "script",
        path,
        "--key",
        "k",
        "--arg",
        "2",
        "--arg",
        "1000",
        "--limit",
        "2",
        "--workers",
        "3",
    ];
    run_words(&[&usual, rest].concat(), |_| ())
}

const ADMIT: [&str; 2] = ["--admit-when", "reply == 1"];

#[test]
fn a_right_script_is_proved_and_exits_0() {
    let found = explore("atomic.lua", ATOMIC, &[&ADMIT[..], &["--json"]].concat());
    assert_eq!(found.code, 0, "{}", found.err);
    let found = found.json();
    assert_eq!(
        (found["verdict"].as_str(), found["max_admitted"].as_u64()),
        (Some("proved"), Some(2))
    );
    assert_eq!(found["store"], "atomic.lua", "the file's name");
}

#[test]
fn a_script_that_forgets_to_count_is_violated_and_exits_1() {
    let found = explore(
        "generous.lua",
        GENEROUS,
        &[&ADMIT[..], &["--json"]].concat(),
    );
    assert_eq!(found.code, 1, "{}", found.err);
    assert_eq!(found.json()["max_admitted"], 3);
}

#[test]
fn a_script_without_a_deadline_leaves_an_immortal_counter() {
    let found = explore(
        "immortal.lua",
        IMMORTAL,
        &[&ADMIT[..], &["--json"]].concat(),
    );
    assert_eq!(
        (found.code, &found.json()["immortal"]),
        (1, &true.into()),
        "{}",
        found.err
    );
}

#[test]
fn a_script_meets_faults_like_any_store() {
    let evicted = explore(
        "atomic2.lua",
        ATOMIC,
        &[
            &ADMIT[..],
            &["--fault", "evict", "--workers", "4", "--json"],
        ]
        .concat(),
    );
    // The number of workers was given twice, which is one line's worth of an error.
    assert_eq!((evicted.code, evicted.err.lines().count()), (2, 1));
    let evicted = explore(
        "atomic2.lua",
        ATOMIC,
        &[&ADMIT[..], &["--fault", "evict", "--json"]].concat(),
    );
    assert_eq!(
        (evicted.code, &evicted.json()["max_admitted"]),
        (1, &3.into()),
        "{}",
        evicted.err
    );
}

#[test]
fn a_scripts_token_replays_with_that_script_and_no_other() {
    let token = explore(
        "generous2.lua",
        GENEROUS,
        &[&ADMIT[..], &["--json"]].concat(),
    )
    .token();
    let same = file("same.lua", GENEROUS);
    let other = file("other.lua", ATOMIC);
    let replay = |path: &PathBuf| {
        let path = path.to_str().expect("text");
        run_words(&["replay", &token, "--script", path], |_| ())
    };
    assert_eq!(replay(&same).code, 1, "{}", replay(&same).err);
    let refused = replay(&other);
    assert_eq!(
        (refused.code, refused.err.lines().count()),
        (2, 1),
        "{}",
        refused.err
    );
    let without = run(&format!("replay {token}"));
    assert_eq!(
        (without.code, without.err.lines().count()),
        (2, 1),
        "{}",
        without.err
    );
}

#[test]
fn what_is_wrong_with_a_script_or_its_arguments_is_said_in_one_line() {
    let refused = |run: &Run| {
        assert_eq!(
            (run.code, run.err.lines().count()),
            (2, 1),
            "{} {}",
            run.out,
            run.err
        );
        assert_eq!(run.out, "");
    };
    refused(&run(
        "script /nowhere/at/all.lua --key k --admit-when reply==1",
    ));
    refused(&explore("a.lua", ATOMIC, &[]));
    for expression in [
        "",
        "reply",
        "reply = 1",
        "reply == ",
        "reply[0] == 1",
        "reply is",
        "1 == reply",
        "reply == 1 and",
    ] {
        refused(&explore("a.lua", ATOMIC, &["--admit-when", expression]));
    }
}

#[test]
fn a_script_that_does_not_compile_is_refused_with_what_the_server_says() {
    let refused = explore("syntax.lua", "return return", &ADMIT);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    let said = "syntax.lua does not compile: ERR Error compiling script";
    assert!(refused.err.contains(said), "{}", refused.err);
    assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
}

#[test]
fn a_script_that_fails_after_its_write_is_told_that_the_write_stays() {
    let source = "redis.call('INCR', KEYS[1]) redis.call('PEXPIRE', KEYS[1], 'soon') return 1";
    let found = explore("late.lua", source, &[&ADMIT[..], &["--json"]].concat());
    assert_eq!((found.code, &found.json()["recovered"]), (1, &false.into()));
    let notes = found.json()["notes"].to_string();
    assert!(
        notes.contains("what had been written before it stays"),
        "{notes}"
    );
    assert!(notes.contains("not an integer"), "{notes}");
}

#[test]
fn a_script_with_an_undeclared_key_is_explored_and_told() {
    let source = ATOMIC.replace("KEYS[1]", "'k:' .. ARGV[1]");
    let found = explore(
        "undeclared.lua",
        &source,
        &[&ADMIT[..], &["--json"]].concat(),
    );
    assert_eq!(
        (found.code, &found.json()["verdict"]),
        (0, &"proved".into())
    );
    let notes = found.json()["notes"].to_string();
    assert!(notes.contains("did not declare: k:2"), "{notes}");
}

#[test]
fn a_script_that_replies_in_json_is_explored() {
    let source =
        format!("local function decide() {ATOMIC} end return cjson.encode({{ok = decide()}})");
    let admit = ["--admit-when", "reply == '{\"ok\":1}'", "--json"];
    let found = explore("json.lua", &source, &admit);
    assert_eq!(
        (found.code, &found.json()["max_admitted"]),
        (0, &2.into()),
        "{}",
        found.err
    );
    assert_eq!(found.json()["notes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_script_that_never_returns_is_refused() {
    let refused = explore("endless.lua", "while true do end", &ADMIT);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(
        refused.err.contains("did not return within"),
        "{}",
        refused.err
    );
}
