//! What the node promises beyond the replies of real servers.

use super::{
    Bytes, Config, Deadline, Effect, EvictionPolicy, Node, Reply, Request, Role, ScriptMode,
    Version, set_script_mode,
};

fn node(version: Version) -> Node {
    let mut node = Node::new(Config::new(version)).expect("a valid setting");
    node.set_time(1_000);
    node
}

fn ask<const N: usize>(node: &mut Node, words: [&str; N]) -> Reply {
    node.execute(1, &Request::new(words))
}

#[test]
fn a_script_that_takes_all_memory_is_stopped() {
    for version in Version::ALL {
        let mut node = Node::new(Config::new(version)).expect("valid");
        let script = "local t = {} while true do t[#t + 1] = string.rep('x', 1000000) .. #t end";
        assert_eq!(
            ask(&mut node, ["EVAL", script, "0"]),
            Reply::error("MODEL script needed more than 256 MiB"),
        );
        assert_eq!(ask(&mut node, ["EVAL", "return 1", "0"]), Reply::Int(1));
    }
}

#[test]
fn a_script_that_never_returns_is_stopped() {
    for version in Version::ALL {
        for script in [
            "while true do end",
            "while true do pcall(function() while true do end end) end",
            "repeat until false",
        ] {
            let mut node = Node::new(Config {
                script_instructions: 100_000,
                ..Config::new(version)
            })
            .expect("valid");
            let reply = ask(&mut node, ["EVAL", script, "0"]);
            assert_eq!(
                reply,
                Reply::error("MODEL script did not return within 100000 instructions"),
                "{script}"
            );
            assert_eq!(ask(&mut node, ["EVAL", "return 1", "0"]), Reply::Int(1));
        }
    }
}

#[test]
fn undeclared_keys_are_told_and_refused_by_a_cluster() {
    let script = "return redis.call('INCR', 'other')";
    let mut alone = node(Version::Redis70);
    for _ in 0..2 {
        ask(&mut alone, ["EVAL", script, "1", "k"]);
        assert_eq!(alone.undeclared_keys(), [Bytes::from("other")]);
    }
    let mut member = Node::new(Config {
        cluster: true,
        ..Config::new(Version::Redis70)
    })
    .expect("valid");
    for _ in 0..2 {
        assert!(
            ask(&mut member, ["EVAL", script, "1", "k"])
                .as_error()
                .is_some()
        );
        assert_eq!(member.keyspace().count(), 0);
    }
}

#[test]
fn what_is_not_modelled_is_noticed() {
    let mut first = node(Version::Redis82);
    assert!(
        ask(&mut first, ["XADD", "s", "*", "f", "v"])
            .as_error()
            .is_some()
    );
    assert_eq!(first.unmodelled(), ["XADD"]);
    let mut second = node(Version::Redis82);
    ask(&mut second, ["NOSUCHCOMMAND"]);
    assert!(second.unmodelled().is_empty());
    for _ in 0..2 {
        let mut third = node(Version::Redis82);
        let reply = ask(&mut third, ["EVAL", "return cmsgpack.pack(1)", "0"]);
        assert!(
            reply.to_string().contains("cmsgpack.pack is not modelled"),
            "{reply}"
        );
        assert_eq!(third.unmodelled(), ["cmsgpack.pack"]);
    }
}

#[test]
fn deadlines_travel_as_the_version_sends_them() {
    let effect = |version, words: [&str; 5]| {
        let mut node = node(version);
        ask(&mut node, words);
        node.take_effects()
    };
    let put = |deadline| {
        vec![Effect::Put {
            key: "k".into(),
            value: super::Value::Text(super::Text::Int(1)),
            deadline,
        }]
    };
    let relative = Deadline::In {
        ttl_ms: 500,
        at_ms: 1_500,
    };
    assert_eq!(
        effect(Version::Redis62, ["SET", "k", "1", "PX", "500"]),
        put(relative)
    );
    assert_eq!(
        effect(Version::Redis70, ["SET", "k", "1", "PX", "500"]),
        put(Deadline::At(1_500))
    );
    assert_eq!(
        effect(Version::Redis62, ["SET", "k", "1", "PXAT", "1500"]),
        put(Deadline::At(1_500))
    );
    let mut late = node(Version::Redis62);
    late.set_role(Role::Replica);
    late.set_time(1_200);
    put(relative).iter().for_each(|effect| late.apply(effect));
    assert_eq!(
        late.entry(b"k").and_then(super::Entry::deadline_ms),
        Some(1_700)
    );
    assert_eq!(relative.on_disk(), Deadline::At(1_500));
}

#[test]
fn a_later_command_keeps_the_deadline_of_the_batch() {
    let mut node = node(Version::Redis70);
    ask(&mut node, ["SET", "k", "1", "PX", "500"]);
    ask(&mut node, ["INCR", "k"]);
    let effects = node.take_effects();
    assert!(
        matches!(
            &effects[..],
            [Effect::Put {
                deadline: Deadline::At(1_500),
                ..
            }]
        ),
        "{effects:?}"
    );
    ask(&mut node, ["INCR", "k"]);
    let effects = node.take_effects();
    assert!(
        matches!(
            &effects[..],
            [Effect::Put {
                deadline: Deadline::Keep,
                ..
            }]
        ),
        "{effects:?}"
    );
    assert!(node.take_effects().is_empty());
}

#[test]
fn a_key_lives_through_its_last_millisecond() {
    let mut primary = node(Version::Redis70);
    ask(&mut primary, ["SET", "k", "1", "PX", "500"]);
    let mut replica = primary.clone();
    replica.set_role(Role::Replica);
    for node in [&mut primary, &mut replica] {
        node.set_time(1_500);
        assert_eq!(ask(node, ["PTTL", "k"]), Reply::Int(0));
        node.set_time(1_501);
        assert_eq!(ask(node, ["PTTL", "k"]), Reply::Int(-2));
    }
    assert_eq!(primary.keyspace().count(), 0);
    // A replica only hides what its primary has not removed yet.
    assert_eq!(replica.keyspace().count(), 1);
    replica.set_role(Role::Primary);
    assert_eq!(replica.keyspace().count(), 0);
}

#[test]
fn an_evicted_key_breaks_its_watchers() {
    let mut node = Node::new(Config {
        eviction: EvictionPolicy::AllKeysLru,
        ..Config::default()
    })
    .expect("valid");
    ask(&mut node, ["SET", "k", "1"]);
    ask(&mut node, ["WATCH", "k"]);
    assert_eq!(node.evictable(), [Bytes::from("k")]);
    assert!(node.evict(b"k"));
    ask(&mut node, ["MULTI"]);
    assert_eq!(ask(&mut node, ["EXEC"]), Reply::NilArray);
}

#[test]
fn a_restart_forgets_sessions_and_scripts() {
    for version in Version::ALL {
        let mut node = node(version);
        ask(&mut node, ["SET", "k", "1", "PX", "500"]);
        let Reply::Bulk(sha) = ask(&mut node, ["SCRIPT", "LOAD", "return 1"]) else {
            panic!("SCRIPT LOAD names the script");
        };
        ask(&mut node, ["MULTI"]);
        let (hash, dataset) = (node.data_hash(), node.dataset());
        node.restart_with(dataset);
        assert_eq!(ask(&mut node, ["GET", "k"]), Reply::Bulk("1".into()));
        let known =
            ask(&mut node, ["SCRIPT", "EXISTS", &sha.lossy()]) == Reply::array(vec![Reply::Int(1)]);
        assert_eq!(known, version == Version::Redis62);
        assert_eq!(node.data_hash() == hash, known);
        assert!(!node.has_effects());
    }
}

#[test]
fn hashes_follow_what_matters() {
    let mut a = node(Version::Redis70);
    let fresh = a.data_hash();
    ask(&mut a, ["SET", "k", "1"]);
    let one = a.data_hash();
    ask(&mut a, ["SET", "k", "2"]);
    assert_ne!(a.data_hash(), one);
    ask(&mut a, ["SET", "k", "1"]);
    assert_eq!(a.data_hash(), one);
    ask(&mut a, ["PEXPIRE", "k", "5"]);
    assert_ne!(a.data_hash(), one);
    a.set_time(2_000);
    assert_eq!(a.data_hash(), fresh);
    let quiet = a.session_hash(1);
    ask(&mut a, ["WATCH", "k"]);
    a.execute(2, &Request::new(["WATCH", "k"]));
    assert_ne!(a.session_hash(1), quiet);
    assert_eq!(a.session_hash(1), a.session_hash(2));
    ask(&mut a, ["UNWATCH"]);
    assert_eq!(a.session_hash(1), quiet);
}

#[test]
fn a_known_script_does_what_it_did_in_lua() {
    let script = "local n = redis.call('INCR', KEYS[1]) redis.call('PEXPIRE', KEYS[1], ARGV[1]) \
                  if n > 2 then return redis.error_reply('FULL ' .. n) end return {n, redis.call('PTTL', KEYS[1])}";
    let run = |mode| {
        set_script_mode(mode);
        let mut node = node(Version::Redis70);
        let replies: Vec<Reply> = (0..5)
            .map(|_| ask(&mut node, ["EVAL", script, "1", "k", "700"]))
            .collect();
        set_script_mode(ScriptMode::Memoised);
        (replies, node.data_hash(), node.take_effects())
    };
    let live = run(ScriptMode::Live);
    assert_eq!(run(ScriptMode::Memoised), live);
    assert_eq!(run(ScriptMode::Memoised), live);
}

#[test]
fn requests_are_told_in_few_words() {
    let told = |words: &[&str]| Request::new(words.iter().copied()).to_string();
    assert_eq!(told(&["incr", "k"]), "INCR k");
    assert_eq!(told(&["SET", "k", "a b", ""]), "SET k \"a b\" \"\"");
    assert_eq!(
        told(&[
            "EVALSHA",
            "e0e1f9fabfc9d4800c877a703b823ac0578ff8db",
            "1",
            "k"
        ]),
        "EVALSHA e0e1f9fa… 1 k"
    );
    assert_eq!(told(&["EVAL", "return 1", "0"]), "EVAL <e0e1f9fa…> 0");
}

#[test]
fn requests_are_read_strictly() {
    let good = Request::new(["GET", "k"]);
    assert_eq!(Request::parse(&good.to_resp()), Ok(good));
    for bad in [
        "",
        "*1\r\n",
        "*0\r\n",
        "*1\r\n$4\r\nPIN\r\n",
        "PING\r\n",
        "*1\r\n$4\r\nPING\r\nx",
        "*9999999999999999999999\r\n",
    ] {
        assert!(Request::parse(bad.as_bytes()).is_err(), "{bad:?}");
    }
}
