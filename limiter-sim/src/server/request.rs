//! What a client asks.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use super::Bytes;
use super::command::{Command, lookup};
use super::fingerprint::{Of, fingerprint};
use super::lua::Sha;

/// One command with its arguments. Cloning shares it.
#[derive(Clone)]
pub struct Request(Arc<Inner>);

struct Inner {
    argv: Vec<Bytes>,
    command: Option<&'static Command>,
    fingerprint: OnceLock<u128>,
    sha: OnceLock<Sha>,
}

impl Request {
    /// A request of these words; the first is the command's name.
    ///
    /// # Panics
    ///
    /// Panics if there is no word at all.
    #[must_use]
    pub fn new<I>(argv: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Bytes>,
    {
        let argv: Vec<Bytes> = argv.into_iter().map(Into::into).collect();
        assert!(
            !argv.is_empty(),
            "a request has at least the name of its command"
        );
        let command = lookup(&argv[0]);
        Self(Arc::new(Inner {
            argv,
            command,
            fingerprint: OnceLock::new(),
            sha: OnceLock::new(),
        }))
    }

    /// Reads exactly one request from the bytes that a client sends.
    ///
    /// # Errors
    ///
    /// If the bytes are not one whole RESP array of bulk strings.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        match Self::parse_prefix(bytes)? {
            (request, used) if used == bytes.len() => Ok(request),
            _ => Err(ParseError("bytes after the end of the request")),
        }
    }

    /// Reads the first request from a buffer, and says how many bytes it took.
    ///
    /// # Errors
    ///
    /// If the buffer does not begin with one whole RESP array of bulk strings.
    pub fn parse_prefix(bytes: &[u8]) -> Result<(Self, usize), ParseError> {
        let mut reader = Reader { bytes, at: 0 };
        let count = reader.number(b'*')?;
        if count == 0 {
            return Err(ParseError("an empty request"));
        }
        let mut argv = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            let len = reader.number(b'$')?;
            argv.push(Bytes::from(reader.take(len)?));
            if reader.take(2)? != b"\r\n" {
                return Err(ParseError("a bulk string that does not end where it says"));
            }
        }
        Ok((Self::new(argv), reader.at))
    }

    /// The words.
    #[must_use]
    pub fn argv(&self) -> &[Bytes] {
        &self.0.argv
    }

    /// The command's name in upper case.
    #[must_use]
    pub fn name(&self) -> String {
        self.0.argv[0].lossy().to_ascii_uppercase()
    }

    /// The keys that the request names, by the command table; for scripts those that it declares.
    #[must_use]
    pub fn keys(&self) -> Vec<Bytes> {
        self.command().map_or_else(Vec::new, |command| {
            command.keys(&self.0.argv).cloned().collect()
        })
    }

    /// Whether the command is one that may change data. Scripts count as such, except the `_RO` ones.
    #[must_use]
    pub fn may_write(&self) -> bool {
        self.command().is_none_or(Command::may_write)
    }

    /// The request in the form in which it travels.
    #[must_use]
    pub fn to_resp(&self) -> Vec<u8> {
        let mut out = format!("*{}\r\n", self.0.argv.len()).into_bytes();
        for word in &self.0.argv {
            out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            out.extend_from_slice(word);
            out.extend_from_slice(b"\r\n");
        }
        out
    }

    /// A 128-bit keyed hash of the words.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        *self
            .0
            .fingerprint
            .get_or_init(|| fingerprint(Of::Request, &self.0.argv))
    }

    pub(crate) fn command(&self) -> Option<&'static Command> {
        self.0.command
    }

    /// The SHA-1 of the second word, which is a script's text.
    pub(crate) fn script_sha(&self) -> Sha {
        *self.0.sha.get_or_init(|| Sha::of(&self.0.argv[1]))
    }
}

/// Requests by the bytes in which they travelled: who sends the same ones again and again reads them once.
#[derive(Debug, Default)]
pub struct RequestCache {
    known: HashMap<Box<[u8]>, Request>,
}

impl RequestCache {
    const MOST: usize = 10_000;

    /// The same as [`Request::parse`], from memory where the bytes are known.
    ///
    /// # Errors
    ///
    /// If the bytes are not one whole RESP array of bulk strings.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<Request, ParseError> {
        if let Some(request) = self.known.get(bytes) {
            return Ok(request.clone());
        }
        let request = Request::parse(bytes)?;
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        self.known.insert(bytes.into(), request.clone());
        Ok(request)
    }
}

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.argv == other.0.argv
    }
}

impl Eq for Request {}

impl Hash for Request {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.fingerprint());
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({self})")
    }
}

/// For stories: `INCR k`, `EVALSHA 1a2b3c4d… 1 k 5`, `EVAL <1a2b3c4d…> 1 k 5`.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        f.write_str(&name)?;
        let script = name.starts_with("EVAL");
        for (at, word) in self.0.argv.iter().enumerate().skip(1) {
            match &**word {
                sha if script && at == 1 && name.starts_with("EVALSHA") && sha.len() == 40 => {
                    write!(f, " {}…", &word.lossy()[..8])?;
                }
                _ if script && at == 1 => write!(f, " <{}…>", &self.script_sha().to_string()[..8])?,
                b"" => f.write_str(" \"\"")?,
                text if text.contains(&b' ') => write!(f, " \"{word}\"")?,
                _ => write!(f, " {word}")?,
            }
        }
        Ok(())
    }
}

/// Bytes that are not one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError(&'static str);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a request: {}", self.0)
    }
}

impl std::error::Error for ParseError {}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], ParseError> {
        let end = self
            .at
            .checked_add(len)
            .filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(ParseError("it ends too early"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self, kind: u8) -> Result<usize, ParseError> {
        if self.take(1)? != [kind] {
            return Err(ParseError("an unexpected kind of element"));
        }
        let mut number = 0_usize;
        loop {
            match self.take(1)?[0] {
                digit @ b'0'..=b'9' => {
                    let digit = usize::from(digit - b'0');
                    number = number
                        .checked_mul(10)
                        .and_then(|n| n.checked_add(digit))
                        .ok_or(ParseError("too long"))?;
                }
                b'\r' if self.take(1)? == b"\n" => return Ok(number),
                _ => return Err(ParseError("a length that is not a number")),
            }
        }
    }
}
