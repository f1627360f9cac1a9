//! A connection to a real server that speaks RESP2 and nothing else.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use limiter_sim::server::{Bytes, Reply, Request};

#[derive(Debug)]
pub(crate) struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    pub(crate) fn connect(socket: &Path) -> std::io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Sends requests together and reads their replies.
    pub(crate) fn ask_all(&mut self, requests: &[&Request]) -> Vec<Reply> {
        self.try_ask_all(requests).expect("the server answers")
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Reply {
        self.ask_all(&[request]).remove(0)
    }

    pub(crate) fn words<const N: usize>(&mut self, words: [&str; N]) -> Reply {
        self.ask(&Request::new(words))
    }

    /// The same for one request that may get no whole reply.
    pub(crate) fn try_ask(&mut self, request: &Request) -> std::io::Result<Reply> {
        Ok(self.try_ask_all(&[request])?.remove(0))
    }

    fn try_ask_all(&mut self, requests: &[&Request]) -> std::io::Result<Vec<Reply>> {
        let bytes: Vec<u8> = requests
            .iter()
            .flat_map(|request| request.to_resp())
            .collect();
        self.stream.get_mut().write_all(&bytes)?;
        requests.iter().map(|_| self.read()).collect()
    }

    fn line(&mut self) -> std::io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        assert!(line.ends_with(b"\r\n"), "the server closed the connection");
        line.truncate(line.len() - 2);
        Ok(line)
    }

    fn read(&mut self) -> std::io::Result<Reply> {
        let line = self.line()?;
        let (kind, rest) = line.split_first().expect("a reply has a kind");
        let number = || {
            String::from_utf8_lossy(rest)
                .parse::<i64>()
                .expect("a number")
        };
        Ok(match kind {
            b'+' => Reply::Status(Bytes::from(rest)),
            b'-' => Reply::Error(Bytes::from(rest)),
            b':' => Reply::Int(number()),
            b'$' if rest == b"-1" => Reply::Nil,
            b'*' if rest == b"-1" => Reply::NilArray,
            b'$' => {
                let mut text = vec![0; number() as usize + 2];
                self.stream.read_exact(&mut text)?;
                text.truncate(text.len() - 2);
                Reply::Bulk(text.into())
            }
            b'*' => {
                let elements = (0..number()).map(|_| self.read());
                Reply::array(elements.collect::<std::io::Result<_>>()?)
            }
            other => panic!("an unexpected kind of reply: {other}"),
        })
    }
}
