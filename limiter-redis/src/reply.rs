//! What the scripts reply, read back.

use std::time::Duration;

use limiter_core::MAX_UNITS;
use redis::Value;

/// What a driver replies about one budget. What it means is up to the driver: an open window is an
/// admission from one and a snapshot from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Verdict 1.
    Yes { total: u64, resets_in: Duration },
    /// Verdict 0. `resets_in` is there where a window is open.
    No {
        total: u64,
        resets_in: Option<Duration>,
    },
    /// Verdict −1: the stored state is not this store's own, for this reason.
    Corrupt(String),
}

impl Reply {
    /// Reads a reply; `None` for anything that no driver says.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let Value::Array(parts) = value else {
            return None;
        };
        match parts.as_slice() {
            [Value::Int(1), total, left_ms] => Some(Self::Yes {
                total: units(total)?,
                resets_in: until_over(left_ms)?,
            }),
            [Value::Int(0), total, Value::Int(-2)] => Some(Self::No {
                total: units(total)?,
                resets_in: None,
            }),
            [Value::Int(0), total, left_ms] => Some(Self::No {
                total: units(total)?,
                resets_in: Some(until_over(left_ms)?),
            }),
            [Value::Int(-1), Value::BulkString(reason), _] => {
                Some(Self::Corrupt(String::from_utf8_lossy(reason).into_owned()))
            }
            _ => None,
        }
    }
}

pub(crate) fn units(value: &Value) -> Option<u64> {
    match value {
        Value::Int(units) => u64::try_from(*units).ok().filter(|u| *u <= MAX_UNITS),
        _ => None,
    }
}

/// A key lives while `now <= deadline`, so the window is over one millisecond after its last one.
pub(crate) fn until_over(left_ms: &Value) -> Option<Duration> {
    match left_ms {
        Value::Int(ms) => Some(Duration::from_millis(u64::try_from(*ms).ok()? + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Option<Reply> {
        Reply::read(&redis::parse_redis_value(reply.as_bytes()).unwrap())
    }

    #[test]
    fn the_end_is_one_millisecond_after_the_last_one() {
        let yes = |total, ms| Reply::Yes {
            total,
            resets_in: Duration::from_millis(ms),
        };
        assert_eq!(read("*3\r\n:1\r\n:5\r\n:0\r\n"), Some(yes(5, 1)));
        let max = "*3\r\n:1\r\n:9007199254740991\r\n:31622400000\r\n";
        assert_eq!(read(max), Some(yes(MAX_UNITS, 31_622_400_001)));
    }

    #[test]
    fn a_denial_may_have_no_window() {
        let no = |total, resets_in| Reply::No { total, resets_in };
        assert_eq!(read("*3\r\n:0\r\n:0\r\n:-2\r\n"), Some(no(0, None)));
        let open = Some(Duration::from_millis(8));
        assert_eq!(read("*3\r\n:0\r\n:5\r\n:7\r\n"), Some(no(5, open)));
    }

    #[test]
    fn what_no_driver_says_is_not_read() {
        for reply in [
            "$-1\r\n",
            ":1\r\n",
            "+OK\r\n",
            "*0\r\n",
            "*2\r\n:1\r\n:5\r\n",
            "*4\r\n:1\r\n:5\r\n:5\r\n:5\r\n",
            "*3\r\n:2\r\n:5\r\n:5\r\n",
            "*3\r\n:1\r\n:-5\r\n:5\r\n",
            "*3\r\n:1\r\n:5\r\n:-1\r\n",
            "*3\r\n:1\r\n:5\r\n:-2\r\n",
            "*3\r\n:1\r\n:9007199254740992\r\n:5\r\n",
            "*3\r\n:1\r\n$1\r\n5\r\n:5\r\n",
            "*3\r\n:-1\r\n:5\r\n:5\r\n",
        ] {
            assert_eq!(read(reply), None, "{reply:?}");
        }
    }
}
