//! 128-bit keyed hashes.

use std::hash::{Hash, Hasher};

use siphasher::sip128::SipHasher13;

/// Fixed, so that every run of every program sees the same hashes.
const KEY: (u64, u64) = (0x6c69_6d69_7465_722d, 0x7369_6d2d_6e6f_6465);

/// What is hashed: hashes of different things never meet, so that their sum stands for all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    Request = 1,
    Entry,
    Script,
    Session,
    Flags,
    Settings,
}

/// The 128-bit hash of anything hashable. Equal values have equal hashes; that different ones have
/// different hashes is true up to a collision of SipHash-1-3 at 128 bits.
pub(crate) fn fingerprint<T: Hash + ?Sized>(of: Of, value: &T) -> u128 {
    let mut packed = Packed {
        held: [0; HELD],
        len: 0,
        more: Vec::new(),
    };
    packed.write_u8(of as u8);
    value.hash(&mut packed);
    packed.finish_128()
}

const HELD: usize = 256;

/// Collects what is hashed: one pass over all bytes is faster than many over a few.
struct Packed {
    held: [u8; HELD],
    len: usize,
    /// Everything, once it is too much to be held.
    more: Vec<u8>,
}

impl Packed {
    fn finish_128(&self) -> u128 {
        let bytes = if self.more.is_empty() {
            &self.held[..self.len]
        } else {
            &self.more
        };
        SipHasher13::new_with_keys(KEY.0, KEY.1)
            .hash(bytes)
            .as_u128()
    }

    #[inline]
    fn word(&mut self, bytes: [u8; 8]) {
        if let Some(room) = self
            .held
            .get_mut(self.len..self.len + 8)
            .filter(|_| self.more.is_empty())
        {
            room.copy_from_slice(&bytes);
            self.len += 8;
        } else {
            self.spill(&bytes);
        }
    }

    #[cold]
    fn spill(&mut self, bytes: &[u8]) {
        if self.more.is_empty() {
            self.more.extend_from_slice(&self.held[..self.len]);
        }
        self.more.extend_from_slice(bytes);
    }
}

impl Hasher for Packed {
    fn finish(&self) -> u64 {
        self.finish_128() as u64
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        if let Some(room) = self
            .held
            .get_mut(self.len..self.len + bytes.len())
            .filter(|_| self.more.is_empty())
        {
            room.copy_from_slice(bytes);
            self.len += bytes.len();
        } else {
            self.spill(bytes);
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.word(number.to_le_bytes());
    }

    #[inline]
    fn write_i64(&mut self, number: i64) {
        self.word(number.to_le_bytes());
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.word((number as u64).to_le_bytes());
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.word((number as i64).to_le_bytes());
    }
}
