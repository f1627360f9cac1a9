//! What counts as agreement.

use limiter_sim::server::{Node, Reply, Request, Value, Version};

use crate::client::Client;

/// How far apart two readings of the same deadline may be: the model reads the clock before the server does.
const TOLERANCE_MS: i64 = 3_000;

/// Whether two replies agree.
pub(crate) fn replies(
    request: &Request,
    version: Version,
    model: &Reply,
    real: &Reply,
) -> Result<(), String> {
    if model == real {
        return Ok(());
    }
    let (model, real) = (
        settle(request, version, model),
        settle(request, version, real),
    );
    if model == real || close(request, &model, &real) {
        return Ok(());
    }
    Err(format!(
        "request: {request}\nmodel: {model:?}\nreal:  {real:?}"
    ))
}

/// Puts what has no order into one.
fn settle(request: &Request, version: Version, reply: &Reply) -> Reply {
    let name = request.name();
    if let (Reply::Array(elements), "HELLO") = (reply, name.as_str()) {
        // The number of the connection is the server's own choice, and modules are how it was built.
        return Reply::array(
            elements
                .iter()
                .filter(|element| !matches!(element, Reply::Int(_) | Reply::Array(_)))
                .cloned()
                .collect(),
        );
    }
    let unordered = name == "KEYS" || name == "SMEMBERS" && version <= Version::Redis70;
    match reply {
        Reply::Array(elements) if unordered => {
            let mut elements = elements.to_vec();
            elements.sort_by_key(Reply::to_resp);
            Reply::array(elements)
        }
        Reply::Array(_) if name == "EXEC" || name == "SCAN" => without_order(reply),
        other => other.clone(),
    }
}

/// The same with all inner arrays in order: they may come from a command that gives none.
fn without_order(reply: &Reply) -> Reply {
    let Reply::Array(elements) = reply else {
        return reply.clone();
    };
    let inner = elements.iter().map(|element| match element {
        Reply::Array(_) => {
            let Reply::Array(elements) = without_order(element) else {
                return element.clone();
            };
            let mut elements = elements.to_vec();
            elements.sort_by_key(Reply::to_resp);
            Reply::array(elements)
        }
        other => other.clone(),
    });
    Reply::array(inner.collect())
}

/// Whether numbers that depend on the clock are near each other.
fn close(request: &Request, model: &Reply, real: &Reply) -> bool {
    let timed = [
        "TTL",
        "PTTL",
        "EXPIRETIME",
        "PEXPIRETIME",
        "TIME",
        "EXEC",
        "EVAL",
        "EVALSHA",
        "EVAL_RO",
    ];
    let timed = timed.contains(&request.name().as_str());
    let are_said = matches!((model, real), (Reply::Int(0 | 1), Reply::Int(0 | 1)));
    timed && near(model, real) || are_said && compares_deadlines(request)
}

/// `EXPIRE key 5000 GT` after `EXPIRE key 5000`: which deadline is later depends on whether a
/// millisecond passed between them. What the key's deadline is then, the comparison of data tells.
fn compares_deadlines(request: &Request) -> bool {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let sets_a_deadline = request.name().contains("EXPIRE");
    let conditions = request.argv().iter().skip(3);
    sets_a_deadline
        && conditions
            .into_iter()
            .any(|word| is(word, "GT") || is(word, "LT"))
}

fn near(model: &Reply, real: &Reply) -> bool {
    match (model, real) {
        // Small numbers are counts, not times.
        (Reply::Int(a), Reply::Int(b)) => {
            a == b || *a > 20 && *b > 20 && a.abs_diff(*b) <= TOLERANCE_MS as u64
        }
        (Reply::Array(a), Reply::Array(b)) => {
            a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| near(a, b))
        }
        _ => model == real,
    }
}

/// Whether the server holds what the model holds.
pub(crate) fn data(admin: &mut Client, node: &Node) -> Result<(), String> {
    let mut real: Vec<String> = match admin.words(["KEYS", "*"]) {
        Reply::Array(keys) => keys.iter().map(Reply::to_string).collect(),
        other => return Err(format!("KEYS answers {other}")),
    };
    real.sort();
    let mut model: Vec<String> = node
        .keyspace()
        .map(|entry| Reply::Bulk(entry.key().clone()).to_string())
        .collect();
    model.sort();
    if model != real {
        return Err(format!(
            "keys of the model: {model:?}\nkeys of the server: {real:?}"
        ));
    }
    for entry in node.keyspace() {
        let key = entry.key();
        let mut ask = |words: &[&[u8]]| admin.ask(&Request::new(words.iter().copied()));
        let real = match entry.value() {
            Value::Text(_) => ask(&[b"GET", key]),
            Value::Hash(_) => ask(&[b"HGETALL", key]),
            Value::List(_) => ask(&[b"LRANGE", key, b"0", b"-1"]),
            Value::Set(_) => ask(&[b"SMEMBERS", key]),
            Value::SortedSet(_) => ask(&[b"ZRANGE", key, b"0", b"-1"]),
        };
        let model = content(entry.value());
        if sorted(&real) != sorted(&model) {
            return Err(format!("key {key}: model {model}, server {real}"));
        }
        let real = ask(&[b"PTTL", key]);
        let rest = entry
            .deadline_ms()
            .map_or(-1, |deadline| (deadline - node.now_ms()).max(0));
        if !matches!(real, Reply::Int(real) if (rest < 0) == (real < 0) && rest.abs_diff(real) <= TOLERANCE_MS as u64)
        {
            return Err(format!(
                "deadline of {key}: model in {rest} ms, server {real}"
            ));
        }
    }
    Ok(())
}

fn content(value: &Value) -> Reply {
    let bulk = |text: &limiter_sim::server::Text| Reply::Bulk(text.to_bytes());
    match value {
        Value::Text(text) => bulk(text),
        Value::Hash(hash) => Reply::array(
            hash.iter()
                .flat_map(|(field, text)| [Reply::Bulk(field.clone()), bulk(text)])
                .collect(),
        ),
        Value::List(list) => Reply::array(list.iter().map(bulk).collect()),
        Value::Set(set) => Reply::array(set.iter().map(bulk).collect()),
        Value::SortedSet(zset) => Reply::array(
            zset.iter()
                .map(|(_, member)| Reply::Bulk(member.clone()))
                .collect(),
        ),
    }
}

/// The order of hashes and sets is compared by the commands that show it, not here.
fn sorted(reply: &Reply) -> Vec<Vec<u8>> {
    let mut elements = match reply {
        Reply::Array(elements) => elements.iter().map(Reply::to_resp).collect(),
        other => vec![other.to_resp()],
    };
    elements.sort();
    elements
}
