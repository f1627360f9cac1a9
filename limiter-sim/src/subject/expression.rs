//! What in a reply means *admitted*.
//!
//! `reply` or `reply[N]` (N from 1), compared by `==`, `!=`, `<`, `<=`, `>` or `>=` with a number or
//! a `'string'`, or followed by `is nil`; several of these joined by `and`.

use std::fmt;
use std::str::FromStr;

use redis::Value;

/// Comparisons that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expression {
    clauses: Vec<Clause>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Clause {
    /// Positions from 1, outermost first.
    path: Vec<usize>,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    IsNil,
    Number(Comparison, i64),
    Text(Comparison, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The longer signs first: `<=` begins with `<`.
const SIGNS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Comparison {
    fn holds<T: Ord + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

impl Expression {
    /// Whether `reply` means *admitted*. A part of the reply that is not there is nil; an error
    /// never means it.
    pub(crate) fn holds(&self, reply: &Value) -> bool {
        !matches!(reply, Value::ServerError(_))
            && self.clauses.iter().all(|clause| clause.holds(reply))
    }
}

impl Clause {
    fn holds(&self, reply: &Value) -> bool {
        let part = self
            .path
            .iter()
            .try_fold(reply, |value, position| match value {
                Value::Array(values) => values.get(position - 1),
                _ => None,
            });
        let part = part.unwrap_or(&Value::Nil);
        match &self.test {
            Test::IsNil => *part == Value::Nil,
            Test::Number(comparison, number) => {
                integer(part).is_some_and(|value| comparison.holds(&value, number))
            }
            Test::Text(comparison, text) => {
                bytes(part).is_some_and(|value| comparison.holds(value, text.as_bytes()))
            }
        }
    }
}

/// A number, also one that the script returned as text.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        other => std::str::from_utf8(bytes(other)?).ok()?.parse().ok(),
    }
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.as_bytes()),
        Value::Okay => Some(b"OK"),
        _ => None,
    }
}

impl FromStr for Expression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let clauses = clauses(text).into_iter();
        let clauses = clauses.map(|clause| parse_clause(clause.trim()));
        Ok(Self {
            clauses: clauses.collect::<Result<_, _>>()?,
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What stands between one `and` and the next; those inside of a string are part of it.
fn clauses(text: &str) -> Vec<&str> {
    const AND: &str = " and ";
    let (mut clauses, mut begun) = (Vec::new(), 0);
    for (at, and) in text.match_indices(AND) {
        let is_quoted = text[begun..at].matches('\'').count() % 2 == 1;
        if !is_quoted {
            clauses.push(&text[begun..at]);
            begun = at + and.len();
        }
    }
    clauses.push(&text[begun..]);
    clauses
}

fn parse_clause(text: &str) -> Result<Clause, String> {
    let wrong = || {
        format!(
            "{text:?} is not understood: allowed is reply or reply[N], then ==, !=, <, <=, > or >= \
             with a number or a 'string', or: is nil; several joined by and"
        )
    };
    let mut rest = text.strip_prefix("reply").ok_or_else(wrong)?;
    let mut path = Vec::new();
    while let Some(inside) = rest.strip_prefix('[') {
        let (position, after) = inside.split_once(']').ok_or_else(wrong)?;
        match position.trim().parse() {
            Ok(position @ 1..) => path.push(position),
            _ => return Err(wrong()),
        }
        rest = after;
    }
    let rest = rest.trim();
    if rest == "is nil" {
        return Ok(Clause {
            path,
            test: Test::IsNil,
        });
    }
    let signs = SIGNS.iter();
    let (comparison, value) = signs
        .filter_map(|(sign, comparison)| Some((*comparison, rest.strip_prefix(sign)?.trim())))
        .next()
        .ok_or_else(wrong)?;
    let quoted = value
        .strip_prefix('\'')
        .and_then(|value| value.strip_suffix('\''));
    let test = match quoted {
        Some(text) => Test::Text(comparison, text.to_owned()),
        None => Test::Number(comparison, value.parse().map_err(|_| wrong())?),
    };
    Ok(Clause { path, test })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(expression: &str, resp: &str) -> bool {
        let reply = redis::parse_redis_value(resp.as_bytes()).unwrap();
        expression.parse::<Expression>().unwrap().holds(&reply)
    }

    #[test]
    fn a_reply_is_compared_with_a_number() {
        assert!(holds("reply == 1", ":1\r\n"));
        assert!(!holds("reply == 1", ":0\r\n"));
        assert!(holds("reply >= 0", "$1\r\n7\r\n"));
        assert!(holds("reply < 0", ":-1\r\n"));
        assert!(!holds("reply != 1", "$-1\r\n"));
    }

    #[test]
    fn a_part_of_a_reply_is_counted_from_one() {
        assert!(holds(
            "reply[1] == 0 and reply[2] > 3",
            "*2\r\n:0\r\n:4\r\n"
        ));
        assert!(!holds(
            "reply[1] == 0 and reply[2] > 4",
            "*2\r\n:0\r\n:4\r\n"
        ));
        assert!(holds("reply[3] is nil", "*2\r\n:0\r\n:4\r\n"));
        assert!(holds(
            "reply[1][2] == 'b'",
            "*1\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"
        ));
    }

    #[test]
    fn an_and_inside_of_a_string_joins_nothing() {
        let said = "reply == 'this and that'";
        let both = format!("{said} and {said}");
        assert!(holds(&both, "$13\r\nthis and that\r\n"));
        assert!(!holds(&both, "$4\r\nthis\r\n"));
    }

    #[test]
    fn text_and_nil_are_told_apart() {
        assert!(holds("reply == 'OK'", "+OK\r\n"));
        assert!(holds("reply is nil", "$-1\r\n"));
        assert!(!holds("reply is nil", "$0\r\n\r\n"));
    }

    #[test]
    fn an_error_never_means_admitted() {
        assert!(!holds("reply is nil", "-ERR no\r\n"));
    }

    #[test]
    fn what_is_no_expression_is_named() {
        for text in [
            "",
            "rep == 1",
            "reply",
            "reply = 1",
            "reply[0] == 1",
            "reply == one",
            "reply[1 == 1",
        ] {
            let error = text.parse::<Expression>().unwrap_err();
            assert!(error.contains("allowed is"), "{text}: {error}");
        }
    }
}
