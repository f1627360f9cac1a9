//! What cannot be done is refused in one line.

use super::run;

/// One line on standard error that says `what`, nothing on standard output, and exit code 2.
fn is_refused(arguments: &str, what: &str) {
    let refused = run(arguments);
    assert_eq!(refused.code, 2, "{arguments}: {}", refused.err);
    assert_eq!(refused.out, "", "{arguments}");
    let mut lines = refused.err.lines();
    let line = lines.next().unwrap_or_default();
    assert_eq!(lines.next(), None, "{arguments}: {}", refused.err);
    assert!(line.starts_with("limiter-sim: "), "{arguments}: {line}");
    assert!(line.contains(what), "{arguments}: {line}");
    assert!(
        !line.contains("for more information"),
        "{arguments}: {line}"
    );
}

#[test]
fn bad_arguments_are_named_with_what_is_allowed() {
    let split = |rest: &str| format!("explore --store split {rest}");
    is_refused("nope", "'nope'");
    is_refused("--nope", "'--nope'");
    is_refused("explore", "--store <STORE>");
    is_refused("explore --store", "--store <STORE>");
    is_refused("explore --store nope", "there are atomic-window, ");
    is_refused(&split("--workers 0"), "1..=64");
    is_refused(&split("--workers 65"), "1..=64");
    is_refused(&split("--workers x"), "'x'");
    is_refused(&split("--attempts 0"), "1..=1000");
    is_refused(&split("--limit -1"), "-1");
    is_refused(&split("--limit 9007199254740992"), "0..=9007199254740991");
    is_refused(
        &split("--limit 99999999999999999999"),
        "99999999999999999999",
    );
    is_refused(&split("--cost 0"), "1..=9007199254740991");
    is_refused(&split("--window-ms 0"), "1..=31622400000");
    is_refused(&split("--window-ms 31622400001"), "1..=31622400000");
    is_refused(&split("--max-states 0"), "'0'");
    is_refused(&split("--runs 0"), "'0'");
    is_refused(&split("--seed x"), "'x'");
    is_refused(&split("--search dfs"), "exhaustive, random, pct");
    is_refused(
        &split("--persistence x"),
        "none, rdb, aof-no, aof-everysec, aof-always",
    );
    is_refused("matrix --limit x", "'x'");
    is_refused("matrix --max-faults 0", "'0'");
    is_refused("matrix --store split", "'--store'");
    is_refused("list x", "'x'");
}

#[test]
fn bad_faults_are_named_with_those_that_there_are() {
    let split = |rest: &str| format!("explore --store split --fault {rest}");
    is_refused(&split("nope"), "lost-request, lost-reply, ");
    is_refused(&split("evict=0"), "1 to 100");
    is_refused(&split("evict=x"), "1 to 100");
    is_refused(&split("evict="), "1 to 100");
    is_refused(&split("evict=101"), "1 to 100");
    is_refused(&split("evict --fault evict=2"), "given twice");
    is_refused(&split("evict --max-faults 101"), "0..=100");
}

#[test]
fn bad_tokens_are_refused() {
    is_refused("replay", "<TOKEN>");
    is_refused("replay x", "ls1:");
    is_refused("replay ls1", "cut short");
    is_refused("replay ls1:", "cut short");
    is_refused("replay ls1:split,w=2:w0~00:00000000", "check sum");
    is_refused("replay ls2:split,w=2:w0~00:00000000", "version ls2");
    is_refused("replay ls10:split", "version ls10");
}

#[test]
fn a_token_that_was_cut_or_changed_anywhere_is_refused() {
    let token = run("explore --store split --workers 2 --limit 1 --json").token();
    for end in (1..token.len()).step_by(7) {
        is_refused(&format!("replay {}", &token[..end]), "");
    }
    for at in (0..token.len()).step_by(7) {
        let mut changed = token.clone().into_bytes();
        changed[at] = if changed[at] == b'7' { b'8' } else { b'7' };
        let changed = String::from_utf8(changed).expect("still ASCII");
        is_refused(&format!("replay {changed}"), "");
    }
}

#[test]
fn a_script_that_a_token_has_no_use_for_is_refused() {
    let found = run("explore --store split --workers 2 --limit 1 --json");
    let found: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    let token = found["token"].as_str().unwrap();
    is_refused(
        &format!("replay {token} --script x.lua"),
        "leave out --script x.lua",
    );
}
