//! The last millisecond of a window, looked at inside the server.

use limiter_tests::{Program, Server, servers};

const SET: &str = "
    local time = redis.call('TIME')
    local deadline = time[1] * 1000 + math.floor(time[2] / 1000) + 8
    redis.call('SET', KEYS[1], 5, 'PXAT', string.format('%.0f', deadline))
    return deadline";

const LOOK: &str = "
    local time = redis.call('TIME')
    local exists = redis.call('EXISTS', KEYS[1])
    local left = redis.call('PTTL', KEYS[1])
    return {time[1] * 1000 + math.floor(time[2] / 1000), exists, left}";

/// What one run of `LOOK` saw: the server's time, whether the key lives, and its PTTL.
type Sight = (i64, bool, i64);

/// Lets one key expire, and looks at it as often as the server can.
fn watch_a_key_expire(server: &Server) -> (i64, Vec<Sight>) {
    let mut admin = server.admin();
    let deadline: i64 = redis::cmd("EVAL")
        .arg(SET)
        .arg(1)
        .arg("k")
        .query(&mut admin)
        .unwrap();
    let mut looks = redis::pipe();
    for _ in 0..50 {
        looks.cmd("EVAL").arg(LOOK).arg(1).arg("k");
    }
    let mut sights: Vec<Sight> = Vec::new();
    while sights.last().is_none_or(|last| last.0 <= deadline + 1) {
        let more: Vec<Sight> = looks.query(&mut admin).unwrap();
        sights.extend(more);
    }
    (deadline, sights)
}

/// Before 7.2 a script's keys live or not as they did when it began, while the clock that `TIME` and
/// `PTTL` read runs on; later all of it stands still.
fn clock_stands_still(program: &Program) -> bool {
    program.is_at_least(7, 2)
}

#[test]
fn a_key_lives_while_now_is_not_past_its_deadline_so_the_wait_is_its_ttl_plus_one() {
    for program in servers() {
        let server = program.setup().start();
        let (mut at_the_deadline, mut right_after) = (false, false);
        let mut rounds = 0;
        while !(at_the_deadline && right_after) {
            rounds += 1;
            assert!(
                rounds < 500,
                "{program}: the last millisecond was never seen"
            );
            let (deadline, sights) = watch_a_key_expire(&server);
            for (now, lives, left) in sights {
                let seen = format!("{program}: deadline {deadline}, now {now}, PTTL {left}");
                if now <= deadline {
                    assert!(lives, "{seen}: gone too early");
                }
                if clock_stands_still(program) {
                    assert_eq!(lives, now <= deadline, "{seen}");
                    // Asking again at now + PTTL is the deadline itself, and still denied.
                    assert_eq!(left, if lives { deadline - now } else { -2 }, "{seen}");
                } else if lives {
                    assert!((0..=(deadline - now).max(0)).contains(&left), "{seen}");
                }
                at_the_deadline |= now == deadline && lives && left == 0;
                right_after |= now == deadline + 1 && !lives;
            }
        }
    }
}
