//! The text form of a history.
//!
//! `ls1:split,w=16,a=1,l=5,ms=1000,c=1,p=none:w0~3f.w1~a2:9c01d2e4`: the version, the scenario, the steps
//! in order, each with two digits that tell what it did when it was recorded, and a check sum of
//! all before it. No character in it means anything to a shell.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::fingerprint::Digest;
use crate::scenario::{Parameters, Persistence};
use crate::subject::Call;
use crate::world::Action;

const VERSION: &str = "ls1";

/// A history, and the scenario that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) subject: String,
    pub(crate) parameters: Parameters,
    pub(crate) persistence: Persistence,
    /// How the script is called, if the token belongs to one.
    pub(crate) script: Option<Call>,
    pub(crate) steps: Vec<(Action, u8)>,
}

/// Why a text is not a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenError(String);

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = self.body();
        write!(f, "{body}:{:08x}", check_sum(&body))
    }
}

impl Token {
    fn body(&self) -> String {
        let Parameters {
            workers,
            attempts,
            limit,
            window_ms,
            cost,
        } = &self.parameters;
        let steps: Vec<String> = self
            .steps
            .iter()
            .map(|(action, did)| format!("{action}~{did:02x}"))
            .collect();
        format!(
            "{VERSION}:{},w={workers},a={attempts},l={limit},ms={window_ms},c={cost},p={}{}:{}",
            utf8_percent_encode(&self.subject, ESCAPED),
            self.persistence.name(),
            self.script.as_ref().map_or_else(String::new, encode_call),
            steps.join(".")
        )
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let version = text.split(':').next().unwrap_or_default();
        if version != VERSION {
            let looks_like_one = version.strip_prefix("ls").is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            });
            return Err(TokenError(if looks_like_one {
                format!("the token is of version {version}; this program reads {VERSION}")
            } else {
                format!("a token begins with \"{VERSION}:\"")
            }));
        }
        let (body, sum) = text
            .rsplit_once(':')
            .ok_or_else(|| TokenError("the token is cut short".to_owned()))?;
        if u32::from_str_radix(sum, 16) != Ok(check_sum(body)) {
            return Err(TokenError(
                "the token's check sum is wrong: it was changed or cut short".to_owned(),
            ));
        }
        let mut parts = body.splitn(3, ':').skip(1);
        let head = parts.next().unwrap_or_default();
        let steps = parts.next().unwrap_or_default();
        Ok(Self {
            steps: parse_steps(steps)?,
            ..parse_head(head)?
        })
    }
}

/// Letters, digits and these stand for themselves.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// `,sha=…,k=…,k=…,g=…,x=…`: keys and arguments in their order, and what means *admitted*.
fn encode_call(call: &Call) -> String {
    let mut text = format!(",sha={}", call.sha);
    for (name, words) in [("k", &call.keys), ("g", &call.arguments)] {
        for word in words {
            text += &format!(",{name}={}", utf8_percent_encode(word, ESCAPED));
        }
    }
    let admit_when = call.admit_when.to_string();
    text + &format!(",x={}", utf8_percent_encode(&admit_when, ESCAPED))
}

/// The scenario; the steps are still to come.
fn parse_head(head: &str) -> Result<Token, TokenError> {
    let mut fields = head.split(',');
    let mut token = Token {
        subject: decode(fields.next().unwrap_or_default()),
        parameters: Parameters::default(),
        persistence: Persistence::None,
        script: None,
        steps: Vec::new(),
    };
    let (mut sha, mut keys, mut arguments) = (None, Vec::new(), Vec::new());
    let parameters = &mut token.parameters;
    for field in fields {
        let wrong = || {
            TokenError(format!(
                "the token has a field that is not understood: {field:?}"
            ))
        };
        let (name, value) = field.split_once('=').ok_or_else(wrong)?;
        let number = || value.parse::<u64>().map_err(|_| wrong());
        match name {
            "w" => parameters.workers = usize::try_from(number()?).map_err(|_| wrong())?,
            "a" => parameters.attempts = u32::try_from(number()?).map_err(|_| wrong())?,
            "l" => parameters.limit = number()?,
            "ms" => parameters.window_ms = number()?,
            "c" => parameters.cost = number()?,
            "p" => token.persistence = Persistence::from_name(value).map_err(TokenError)?,
            "sha" => sha = Some(value.to_owned()),
            "k" => keys.push(decode(value)),
            "g" => arguments.push(decode(value)),
            "x" => {
                token.script = Some(Call {
                    sha: sha.take().ok_or_else(wrong)?,
                    keys: std::mem::take(&mut keys),
                    arguments: std::mem::take(&mut arguments),
                    admit_when: decode(value).parse().map_err(TokenError)?,
                });
            }
            _ => return Err(wrong()),
        }
    }
    Ok(token)
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn parse_steps(steps: &str) -> Result<Vec<(Action, u8)>, TokenError> {
    let parse = |step: &str| {
        let wrong = || {
            TokenError(format!(
                "the token has a step that is not understood: {step:?}"
            ))
        };
        let (action, did) = step.split_once('~').ok_or_else(wrong)?;
        let action = action.parse().map_err(|()| wrong())?;
        let did = u8::from_str_radix(did, 16).map_err(|_| wrong())?;
        Ok((action, did))
    };
    steps
        .split('.')
        .filter(|step| !step.is_empty())
        .map(parse)
        .collect()
}

#[allow(clippy::cast_possible_truncation)] // Any 32 bits of the digest will do.
fn check_sum(text: &str) -> u32 {
    Digest::of(&text).0 as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Way;

    fn token() -> Token {
        Token {
            subject: "split".to_owned(),
            parameters: Parameters::default(),
            persistence: Persistence::AofAlways,
            script: Some(Call {
                sha: "0123".to_owned(),
                keys: vec!["a:{worker}".to_owned()],
                arguments: vec!["1,=~".to_owned(), String::new()],
                admit_when: "reply[1] == 'a b'".parse().unwrap(),
            }),
            steps: vec![
                (
                    Action::Go {
                        process: 3,
                        lane: 0,
                        way: Way::Through,
                    },
                    0x1f,
                ),
                (
                    Action::Go {
                        process: 3,
                        lane: 2,
                        way: Way::LostReply,
                    },
                    0,
                ),
                (
                    Action::Advance {
                        to: crate::world::EPOCH_MS + 1001,
                    },
                    0xff,
                ),
            ],
        }
    }

    #[test]
    fn a_token_reads_back_as_it_was_written() {
        assert_eq!(token().to_string().parse(), Ok(token()));
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let text = token().to_string();
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(changed.parse::<Token>().is_err(), "{changed}");
        }
    }

    #[test]
    fn a_token_of_another_version_is_named() {
        let error = "ls2:split:".parse::<Token>().unwrap_err().to_string();
        assert_eq!(error, "the token is of version ls2; this program reads ls1");
    }

    #[test]
    fn every_cut_is_noticed() {
        let text = token().to_string();
        for end in 0..text.len() {
            assert!(text[..end].parse::<Token>().is_err());
        }
    }
}
