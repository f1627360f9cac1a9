//! The commands that the scripts use.

use std::collections::BTreeMap;

use super::keys::{Held, Keys, Reply};

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

type Answer = Result<Reply, String>;
type Hash = BTreeMap<Vec<u8>, Vec<u8>>;
type Sorted = BTreeMap<Vec<u8>, i64>;

fn number(word: &[u8]) -> i64 {
    let text = std::str::from_utf8(word).unwrap();
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is no whole number"))
}

fn text(number: i64) -> Vec<u8> {
    number.to_string().into_bytes()
}

impl Keys {
    pub(super) fn run(&mut self, now_ms: u64, words: &[Vec<u8>]) -> Answer {
        self.expire(now_ms);
        let name = std::str::from_utf8(&words[0]).unwrap();
        let key = words.get(1).map(Vec::as_slice).unwrap_or_default();
        let rest = words.get(2..).unwrap_or_default();
        match name {
            "TIME" => {
                let time = [(now_ms / 1000) as i64, (now_ms % 1000 * 1000) as i64];
                Ok(Reply::List(time.map(|part| Some(text(part))).to_vec()))
            }
            "DEL" | "UNLINK" => Ok(Reply::Int(self.0.remove(key).is_some().into())),
            "PTTL" => Ok(Reply::Int(match self.0.get(key) {
                None => -2,
                Some((_, None)) => -1,
                Some((_, Some(deadline))) => (deadline - now_ms) as i64,
            })),
            "PEXPIRE" | "PEXPIREAT" => {
                let from = if name == "PEXPIRE" { now_ms } else { 0 };
                self.set_deadline(key, from + number(&rest[0]) as u64, now_ms);
                Ok(Reply::Int(1))
            }
            "MGET" => {
                let texts = words[1..].iter().map(|key| match self.0.get(key) {
                    Some((Held::Text(text), _)) => Some(text.clone()),
                    _ => None,
                });
                Ok(Reply::List(texts.collect()))
            }
            "GET" | "SET" | "INCRBY" => self.of_text(now_ms, name, key, rest),
            _ if name.starts_with('H') => self.of_hash(name, key, rest),
            _ if name.starts_with('Z') => self.of_sorted(name, key, rest),
            _ => panic!("the model has no command {name}"),
        }
    }

    fn of_text(&mut self, now_ms: u64, name: &str, key: &[u8], rest: &[Vec<u8>]) -> Answer {
        let stored = match self.0.get(key) {
            Some((Held::Text(text), _)) => Some(text.clone()),
            Some(_) if name != "SET" => return Err(WRONG_TYPE.to_owned()),
            _ => None,
        };
        Ok(match name {
            "GET" => Reply::Text(stored),
            "INCRBY" => {
                let total = number(&stored.unwrap()) + number(&rest[0]);
                self.put(key, Held::Text(text(total)));
                Reply::Int(total)
            }
            _ => {
                let option = std::str::from_utf8(&rest[1]).unwrap();
                if option != "KEEPTTL" {
                    self.0.remove(key);
                }
                self.put(key, Held::Text(rest[0].clone()));
                if option != "KEEPTTL" {
                    let from = if option == "PX" { now_ms } else { 0 };
                    self.set_deadline(key, from + number(&rest[2]) as u64, now_ms);
                }
                Reply::Okay
            }
        })
    }

    fn of_hash(&mut self, name: &str, key: &[u8], rest: &[Vec<u8>]) -> Answer {
        let mut hash: Hash = match self.0.get(key) {
            Some((Held::Hash(hash), _)) => hash.clone(),
            Some(_) => return Err(WRONG_TYPE.to_owned()),
            None => Hash::new(),
        };
        let reply = match name {
            "HGET" => return Ok(Reply::Text(hash.get(&rest[0]).cloned())),
            "HMGET" => {
                let fields = rest.iter().map(|field| hash.get(field).cloned());
                return Ok(Reply::List(fields.collect()));
            }
            "HEXISTS" => return Ok(Reply::Int(hash.contains_key(&rest[0]).into())),
            "HLEN" => return Ok(Reply::Int(hash.len() as i64)),
            "HSET" => {
                for pair in rest.chunks(2) {
                    hash.insert(pair[0].clone(), pair[1].clone());
                }
                0
            }
            "HINCRBY" => {
                let total = number(&hash[&rest[0]]) + number(&rest[1]);
                hash.insert(rest[0].clone(), text(total));
                total
            }
            "HDEL" => {
                hash.retain(|field, _| !rest.contains(field));
                0
            }
            _ => panic!("the model has no command {name}"),
        };
        self.put(key, Held::Hash(hash));
        Ok(Reply::Int(reply))
    }

    fn of_sorted(&mut self, name: &str, key: &[u8], rest: &[Vec<u8>]) -> Answer {
        let mut set: Sorted = match self.0.get(key) {
            Some((Held::Sorted(set), _)) => set.clone(),
            Some(_) => return Err(WRONG_TYPE.to_owned()),
            None => Sorted::new(),
        };
        let mut changed = 0;
        match name {
            "ZSCORE" => return Ok(Reply::Text(set.get(&rest[0]).copied().map(text))),
            "ZCOUNT" => {
                let scores = set.values().filter(|score| within(**score, rest));
                return Ok(Reply::Int(scores.count() as i64));
            }
            "ZRANGE" => {
                assert!(rest[0] == rest[1] && rest[2] == b"WITHSCORES");
                return Ok(Reply::List(place(&set, number(&rest[0]))));
            }
            "ZADD" => {
                let only_known = rest[0] == b"XX";
                for pair in rest[usize::from(only_known)..].chunks(2) {
                    if !only_known || set.contains_key(&pair[1]) {
                        set.insert(pair[1].clone(), number(&pair[0]));
                    }
                }
            }
            "ZREM" => {
                let before = set.len();
                set.retain(|member, _| !rest.contains(member));
                changed = before - set.len();
            }
            "ZREMRANGEBYSCORE" => set.retain(|_, score| !within(*score, rest)),
            _ => panic!("the model has no command {name}"),
        }
        if set.is_empty() {
            self.0.remove(key);
        } else {
            self.put(key, Held::Sorted(set));
        }
        Ok(Reply::Int(changed as i64))
    }
}

fn within(score: i64, bounds: &[Vec<u8>]) -> bool {
    let lower = bounds[0] == b"-inf" || number(&bounds[0]) <= score;
    let upper = match bounds[1].as_slice() {
        b"+inf" => true,
        [b'(', bound @ ..] => score < number(bound),
        bound => score <= number(bound),
    };
    lower && upper
}

/// The member at a place of the order, which may count from the end, and its score.
fn place(set: &Sorted, place: i64) -> Vec<Option<Vec<u8>>> {
    let mut order: Vec<(i64, &Vec<u8>)> =
        set.iter().map(|(member, score)| (*score, member)).collect();
    order.sort();
    let place = if place < 0 {
        place + order.len() as i64
    } else {
        place
    };
    let found = usize::try_from(place)
        .ok()
        .and_then(|place| order.get(place));
    match found {
        Some((score, member)) => vec![Some((*member).clone()), Some(text(*score))],
        None => Vec::new(),
    }
}
