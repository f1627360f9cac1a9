//! 0: ran, and found no violation. 1: found one, or reproduced it. 2: refused.

use super::run;

const ATOMIC: &str = "explore --store atomic-window --workers 3 --limit 1";
const SPLIT: &str = "explore --store split --workers 3 --limit 1";

#[test]
fn explore_exits_0_where_it_finds_no_violation() {
    for json in ["", " --json"] {
        assert_eq!(run(&format!("{ATOMIC}{json}")).code, 0);
        assert_eq!(
            run(&format!("{ATOMIC} --max-states 2{json}")).code,
            0,
            "bounded is no violation"
        );
        assert_eq!(
            run(&format!("{ATOMIC} --fault stale-read{json}")).code,
            0,
            "nor is not applicable"
        );
    }
}

#[test]
fn explore_exits_1_where_it_finds_a_violation() {
    for json in ["", " --json"] {
        assert_eq!(run(&format!("{SPLIT}{json}")).code, 1);
        assert_eq!(run(&format!("{ATOMIC} --fault evict{json}")).code, 1);
        assert_eq!(
            run(&format!("{SPLIT} --search random --runs 200{json}")).code,
            1
        );
    }
}

#[test]
fn waste_alone_is_no_violation() {
    let found =
        run("explore --store atomic-window-retry --workers 3 --limit 1 --fault lost-reply --json");
    assert_eq!(found.code, 0);
    assert_eq!(found.json()["waste"], 1);
}

#[test]
fn replay_exits_1_where_it_reproduces_the_violation() {
    let token = run(&format!("{SPLIT} --json")).token();
    for json in ["", " --json"] {
        let again = run(&format!("replay {token}{json}"));
        assert_eq!((again.code, again.err.as_str()), (1, ""));
    }
}

#[test]
fn the_matrix_exits_0_whatever_it_shows() {
    let small = "--workers 2 --limit 1";
    for command in [
        format!("matrix {small}"),
        small.to_owned(),
        format!("matrix {small} --json"),
    ] {
        let matrix = run(&command);
        assert_eq!((matrix.code, matrix.err.as_str()), (0, ""), "{command}");
    }
}

#[test]
fn the_list_exits_0() {
    assert_eq!(run("list").code, 0);
    assert_eq!(run("list --json").code, 0);
}

#[test]
fn help_and_version_are_answers() {
    for command in [
        "--help",
        "--version",
        "explore --help",
        "matrix --help",
        "replay --help",
        "list --help",
    ] {
        let help = run(command);
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{command}");
        assert!(!help.out.is_empty(), "{command}");
    }
}

#[test]
fn replay_exits_1_where_no_order_of_the_calls_explains_their_answers() {
    let found = run(
        "explore --store increment-then-expire-spending --workers 4 --limit 2 --time-steps 1 --json",
    );
    let json = found.json();
    assert_eq!((found.code, &json["linearizes"]), (1, &false.into()));
    assert_eq!(
        (&json["overspend"], &json["immortal"]),
        (&0.into(), &false.into())
    );
    let again = run(&format!("replay {} --json", found.token()));
    assert_eq!(
        (again.code, &again.json()["linearizes"]),
        (1, &false.into())
    );
    let told = run(&format!("replay {}", found.token())).out;
    assert!(told.contains("no order of the calls explains"), "{told}");
}
