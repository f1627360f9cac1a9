//! Reading JSON, with the complaints of the server's parser.

use mlua::{Lua, Value};

const MAX_DEPTH: usize = 1_000;

/// Why a text is not read.
pub(super) enum Problem {
    /// What the parser says.
    Text(String),
    /// Lua failed.
    Lua(mlua::Error),
}

impl From<mlua::Error> for Problem {
    fn from(error: mlua::Error) -> Self {
        Self::Lua(error)
    }
}

/// One token; the name is what a complaint calls it.
enum Token {
    Mark(&'static str),
    Text(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    Bad(&'static str),
}

impl Token {
    fn name(&self) -> &'static str {
        match self {
            Self::Mark(name) | Self::Bad(name) => name,
            Self::Text(_) => "T_STRING",
            Self::Number(_) => "T_NUMBER",
            Self::Boolean(_) => "T_BOOLEAN",
            Self::Null => "T_NULL",
        }
    }
}

pub(super) struct Parser<'a> {
    lua: &'a Lua,
    text: Vec<u8>,
    at: usize,
    /// Where the last token began, or where it went wrong.
    began: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(lua: &'a Lua, text: &[u8]) -> Self {
        Self {
            lua,
            text: text.to_vec(),
            at: 0,
            began: 0,
            depth: 0,
        }
    }

    /// Reads the whole text as one value.
    pub(super) fn document(mut self) -> Result<Value, Problem> {
        if self.text.len() >= 2 && (self.text[0] == 0 || self.text[1] == 0) {
            return Err(Problem::Text(
                "JSON parser does not support UTF-16 or UTF-32".into(),
            ));
        }
        let token = self.token();
        let value = self.value(token)?;
        match self.token() {
            Token::Mark("T_END") => Ok(value),
            other => Err(self.expected("the end", &other)),
        }
    }

    fn expected(&self, what: &str, found: &Token) -> Problem {
        let place = self.began + 1;
        Problem::Text(format!(
            "Expected {what} but found {} at character {place}",
            found.name()
        ))
    }

    fn value(&mut self, token: Token) -> Result<Value, Problem> {
        match token {
            Token::Text(text) => Ok(Value::String(self.lua.create_string(text)?)),
            Token::Number(number) => Ok(Value::Number(number)),
            Token::Boolean(value) => Ok(Value::Boolean(value)),
            Token::Null => Ok(Value::NULL),
            Token::Mark("T_OBJ_BEGIN") => self.nested(Self::object),
            Token::Mark("T_ARR_BEGIN") => self.nested(Self::array),
            other => Err(self.expected("value", &other)),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Problem>) -> Result<Value, Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let (depth, at) = (self.depth, self.at);
            return Err(Problem::Text(format!(
                "Found too many nested data structures ({depth}) at character {at}"
            )));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Problem> {
        let table = self.lua.create_table()?;
        let mut token = self.token();
        if matches!(token, Token::Mark("T_OBJ_END")) {
            return Ok(Value::Table(table));
        }
        loop {
            let Token::Text(key) = token else {
                return Err(self.expected("object key string", &token));
            };
            let colon = self.token();
            if !matches!(colon, Token::Mark("T_COLON")) {
                return Err(self.expected("colon", &colon));
            }
            let next = self.token();
            let value = self.value(next)?;
            table.raw_set(self.lua.create_string(key)?, value)?;
            match self.token() {
                Token::Mark("T_OBJ_END") => return Ok(Value::Table(table)),
                Token::Mark("T_COMMA") => token = self.token(),
                other => return Err(self.expected("comma or object end", &other)),
            }
        }
    }

    fn array(&mut self) -> Result<Value, Problem> {
        let table = self.lua.create_table()?;
        let mut token = self.token();
        if matches!(token, Token::Mark("T_ARR_END")) {
            return Ok(Value::Table(table));
        }
        for at in 1.. {
            let value = self.value(token)?;
            table.raw_set(at, value)?;
            match self.token() {
                Token::Mark("T_ARR_END") => break,
                Token::Mark("T_COMMA") => token = self.token(),
                other => return Err(self.expected("comma or array end", &other)),
            }
        }
        Ok(Value::Table(table))
    }

    fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn token(&mut self) -> Token {
        while matches!(self.byte(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.began = self.at;
        let mark = match self.byte() {
            b'{' => "T_OBJ_BEGIN",
            b'}' => "T_OBJ_END",
            b'[' => "T_ARR_BEGIN",
            b']' => "T_ARR_END",
            b',' => "T_COMMA",
            b':' => "T_COLON",
            0 if self.at >= self.text.len() => return Token::Mark("T_END"),
            b'"' => return self.string(),
            _ => return self.bare(),
        };
        self.at += 1;
        Token::Mark(mark)
    }

    fn bare(&mut self) -> Token {
        let rest = &self.text[self.at..];
        let word = |word: &str| rest.starts_with(word.as_bytes());
        let (token, len) = match () {
            () if word("true") => (Token::Boolean(true), 4),
            () if word("false") => (Token::Boolean(false), 5),
            () if word("null") => (Token::Null, 4),
            () => match number(rest) {
                Some((number, len)) => (Token::Number(number), len),
                None if matches!(rest.first(), Some(b'-' | b'0'..=b'9' | b'+')) => {
                    (Token::Bad("invalid number"), 0)
                }
                None => (Token::Bad("invalid token"), 0),
            },
        };
        self.at += len;
        token
    }

    fn string(&mut self) -> Token {
        let mut out = Vec::new();
        self.at += 1;
        loop {
            match self.byte() {
                b'"' => break,
                0 if self.at >= self.text.len() => return self.bad("unexpected end of string"),
                b'\\' => {
                    let plain = match self.text.get(self.at + 1) {
                        Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
                        Some(b'b') => 0x08,
                        Some(b'f') => 0x0c,
                        Some(b'n') => b'\n',
                        Some(b'r') => b'\r',
                        Some(b't') => b'\t',
                        Some(b'u') => match self.unicode() {
                            Some(character) => {
                                let mut buffer = [0; 4];
                                out.extend_from_slice(
                                    character.encode_utf8(&mut buffer).as_bytes(),
                                );
                                continue;
                            }
                            None => return self.bad("invalid unicode escape code"),
                        },
                        _ => return self.bad("invalid escape code"),
                    };
                    out.push(plain);
                    self.at += 2;
                }
                byte => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Token::Text(out)
    }

    fn bad(&mut self, name: &'static str) -> Token {
        self.began = self.at;
        Token::Bad(name)
    }

    /// Reads `\uXXXX`, or two of them that belong together.
    fn unicode(&mut self) -> Option<char> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 4)?;
            u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let first = unit(self.at + 2)?;
        if (0xDC00..0xE000).contains(&first) {
            return None;
        }
        if !(0xD800..0xDC00).contains(&first) {
            self.at += 6;
            return char::from_u32(first);
        }
        let second = (self.text.get(self.at + 6..self.at + 8)? == b"\\u")
            .then(|| unit(self.at + 8))
            .flatten()?;
        let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
        self.at += 12;
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10 | low))
    }
}

/// The number at the beginning of a text, in any form that `strtod` takes, and its length.
fn number(text: &[u8]) -> Option<(f64, usize)> {
    let first = text.first()?;
    let may_begin = matches!(first, b'-' | b'+' | b'0'..=b'9' | b'i' | b'I' | b'n' | b'N');
    let span = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    let span = span.count();
    let longest = (1..=span).rev().find_map(|len| {
        let text = std::str::from_utf8(&text[..len]).ok()?;
        crate::server::number::parse_c_float(text).map(|number| (number, len))
    });
    longest.filter(|_| may_begin)
}
