//! Ciphers as states that take bytes piece by piece: AES in its modes and ChaCha20, each also with
//! authentication.
//!
//! The block cipher, the keystream of ChaCha20 and the two universal hashes are RustCrypto's. The
//! modes are implemented here, on many blocks at a time, because the crates of the modes would add
//! one copy of their code for each length of key.

use super::super::{BufferArgument, TextArgument, throw_text};
use super::give;
use aes::cipher::inout::InOutBuf;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek};
use aes::{Aes128, Aes192, Aes256};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use poly1305::Poly1305;
use rquickjs::function::{Func, Opt};
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result};
use std::cell::RefCell;

const BLOCK: usize = 16;

type Block = [u8; BLOCK];

/// AES by the length of its key.
enum Aes {
    Of128(Box<Aes128>),
    Of192(Box<Aes192>),
    Of256(Box<Aes256>),
}

impl Aes {
    fn new(key: &[u8]) -> Option<Aes> {
        Some(match key.len() {
            16 => Aes::Of128(Box::new(Aes128::new_from_slice(key).ok()?)),
            24 => Aes::Of192(Box::new(Aes192::new_from_slice(key).ok()?)),
            32 => Aes::Of256(Box::new(Aes256::new_from_slice(key).ok()?)),
            _ => return None,
        })
    }

    /// Encrypts whole blocks in place; an incomplete block at the end is not touched.
    fn encrypt(&self, blocks: &mut [u8]) {
        let (blocks, _) = InOutBuf::from(blocks).into_chunks();
        match self {
            Aes::Of128(aes) => aes.encrypt_blocks_inout(blocks),
            Aes::Of192(aes) => aes.encrypt_blocks_inout(blocks),
            Aes::Of256(aes) => aes.encrypt_blocks_inout(blocks),
        }
    }

    fn decrypt(&self, blocks: &mut [u8]) {
        let (blocks, _) = InOutBuf::from(blocks).into_chunks();
        match self {
            Aes::Of128(aes) => aes.decrypt_blocks_inout(blocks),
            Aes::Of192(aes) => aes.decrypt_blocks_inout(blocks),
            Aes::Of256(aes) => aes.decrypt_blocks_inout(blocks),
        }
    }
}

fn xor(data: &mut [u8], with: &[u8]) {
    data.iter_mut().zip(with).for_each(|(d, w)| *d ^= w);
}

/// AES as a keystream of encrypted counters.
struct Counter {
    aes: Aes,
    next: Block,
    /// Whether only the last 32 bits are incremented, as in GCM.
    only32: bool,
    /// The unused rest of the current block.
    rest: Vec<u8>,
}

impl Counter {
    fn count(&mut self) {
        if self.only32 {
            let (_, low) = self.next.split_at_mut(12);
            let n = u32::from_be_bytes([low[0], low[1], low[2], low[3]]).wrapping_add(1);
            low.copy_from_slice(&n.to_be_bytes());
        } else {
            self.next = u128::from_be_bytes(self.next).wrapping_add(1).to_be_bytes();
        }
    }

    fn apply(&mut self, data: &mut [u8]) {
        let used = self.rest.len().min(data.len());
        let (begun, data) = data.split_at_mut(used);
        let rest: Vec<u8> = self.rest.drain(..used).collect();
        xor(begun, &rest);
        for part in data.chunks_mut(64 * BLOCK) {
            let mut stream = Vec::with_capacity(part.len().next_multiple_of(BLOCK));
            while stream.len() < part.len() {
                stream.extend_from_slice(&self.next);
                self.count();
            }
            self.aes.encrypt(&mut stream);
            xor(part, &stream);
            self.rest = stream.split_off(part.len());
        }
    }
}

/// Modes with feedback, which make the keystream by encrypting earlier output.
#[derive(Clone, Copy, PartialEq)]
enum Feedback {
    /// CFB of 128 bits.
    Text,
    /// CFB of 8 bits.
    Byte,
    /// OFB.
    Output,
}

struct FeedbackState {
    aes: Aes,
    register: Block,
    /// The number of bytes of the current block that were used.
    used: usize,
    kind: Feedback,
}

impl FeedbackState {
    fn apply(&mut self, encrypt: bool, data: &mut [u8]) {
        for byte in data {
            if self.kind == Feedback::Byte {
                let mut block = self.register;
                self.aes.encrypt(&mut block);
                let (text, made) = (*byte, *byte ^ block[0]);
                self.register.rotate_left(1);
                self.register[BLOCK - 1] = if encrypt { made } else { text };
                *byte = made;
                continue;
            }
            if self.used == BLOCK {
                self.used = 0;
            }
            if self.used == 0 {
                self.aes.encrypt(&mut self.register);
            }
            let (text, place) = (*byte, &mut self.register[self.used]);
            *byte ^= *place;
            if self.kind == Feedback::Text {
                *place = if encrypt { *byte } else { text };
            }
            self.used += 1;
        }
    }
}

/// A universal hash of additional data, ciphertext and their lengths. The first two are each padded
/// to whole blocks.
struct AuthTag<U> {
    hash: U,
    rest: Vec<u8>,
    lengths: [u64; 2],
}

impl<U: UniversalHash<BlockSize = aes::cipher::consts::U16>> AuthTag<U> {
    fn new(hash: U) -> AuthTag<U> {
        AuthTag { hash, rest: Vec::new(), lengths: [0; 2] }
    }

    /// Adds data to a part of the message: part 0 is additional data, part 1 ciphertext.
    fn take(&mut self, part: usize, data: &[u8]) {
        self.lengths[part] += data.len() as u64;
        self.rest.extend_from_slice(data);
        let whole = self.rest.len() - self.rest.len() % BLOCK;
        self.hash.update_padded(&self.rest[..whole]);
        self.rest.drain(..whole);
    }

    fn end_part(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        self.hash.update_padded(&rest);
    }

    fn finish(mut self, lengths: impl Fn([u64; 2]) -> [[u8; 8]; 2]) -> Block {
        self.end_part();
        let lengths = lengths(self.lengths);
        self.hash.update_padded(&lengths.concat());
        self.hash.finalize().into()
    }
}

/// The state of a cipher between two pieces.
enum CipherState {
    Ecb(Aes),
    /// The last block of ciphertext, or the initialization vector.
    Cbc(Aes, Block),
    Ctr(Box<Counter>),
    Feedback(Box<FeedbackState>),
    ChaCha(Box<chacha20::ChaCha20>),
    /// The counter, the tag until it is taken, and the block that masks the tag.
    Gcm(Box<Counter>, Option<Box<AuthTag<GHash>>>, Block),
    ChaChaPoly(Box<chacha20::ChaCha20>, Option<Box<AuthTag<Poly1305>>>),
}

struct Cipher {
    kind: CipherState,
    encrypt: bool,
    /// Whether the last block is padded (PKCS#7).
    padding: bool,
    /// The bytes of an incomplete block, in block modes.
    rest: Vec<u8>,
    has_text: bool,
}

/// Returns the first counter block of GCM (SP 800-38D, 7.1).
fn gcm_begin(
    key: &aes::cipher::generic_array::GenericArray<u8, aes::cipher::consts::U16>,
    iv: &[u8],
) -> Block {
    if let Ok(iv) = <[u8; 12]>::try_from(iv) {
        let mut begin = [0; BLOCK];
        begin[..12].copy_from_slice(&iv);
        begin[15] = 1;
        return begin;
    }
    let mut tag = AuthTag::new(GHash::new(key));
    tag.take(1, iv);
    tag.finish(|[_, n]| [[0; 8], (n * 8).to_be_bytes()])
}

impl CipherState {
    /// Creates the state; `None` if the mode is unknown, or the length of the key or vector does
    /// not fit.
    fn new(mode: &str, key: &[u8], iv: &[u8]) -> Option<CipherState> {
        let chacha = |nonce: &[u8]| chacha20::ChaCha20::new_from_slices(key, nonce).ok();
        let feedback = |kind| {
            let register = iv.try_into().ok()?;
            Some(CipherState::Feedback(Box::new(FeedbackState {
                aes: Aes::new(key)?,
                register,
                used: 0,
                kind,
            })))
        };
        Some(match mode {
            "ecb" => CipherState::Ecb(Aes::new(key)?),
            "cbc" => CipherState::Cbc(Aes::new(key)?, iv.try_into().ok()?),
            "ctr" => {
                let next = iv.try_into().ok()?;
                CipherState::Ctr(Box::new(Counter {
                    aes: Aes::new(key)?,
                    next,
                    only32: false,
                    rest: Vec::new(),
                }))
            }
            "cfb" => feedback(Feedback::Text)?,
            "cfb8" => feedback(Feedback::Byte)?,
            "ofb" => feedback(Feedback::Output)?,
            "gcm" => {
                let aes = Aes::new(key)?;
                let mut hash_key = [0; BLOCK];
                aes.encrypt(&mut hash_key);
                let begin = gcm_begin((&hash_key).into(), iv);
                let mut mask = begin;
                aes.encrypt(&mut mask);
                let mut counter =
                    Box::new(Counter { aes, next: begin, only32: true, rest: Vec::new() });
                counter.count();
                CipherState::Gcm(
                    counter,
                    Some(Box::new(AuthTag::new(GHash::new((&hash_key).into())))),
                    mask,
                )
            }
            "chacha20" => {
                // OpenSSL puts the number of the first block before the nonce.
                let (first, nonce) = iv.split_first_chunk::<4>()?;
                let mut stream = chacha(nonce)?;
                stream.try_seek(u64::from(u32::from_le_bytes(*first)) * 64).ok()?;
                CipherState::ChaCha(Box::new(stream))
            }
            "chacha20-poly1305" => {
                let mut stream = chacha(iv)?;
                let mut first = [0; 64];
                stream.try_apply_keystream(&mut first).ok()?;
                let tag = AuthTag::new(Poly1305::new_from_slice(&first[..32]).ok()?);
                CipherState::ChaChaPoly(Box::new(stream), Some(Box::new(tag)))
            }
            _ => return None,
        })
    }
}

impl Cipher {
    /// Adds additional data. Returns `false` if there was text before it, or the cipher has no
    /// additional data.
    fn additional(&mut self, data: &[u8]) -> bool {
        match &mut self.kind {
            _ if self.has_text => return false,
            CipherState::Gcm(_, Some(tag), _) => tag.take(0, data),
            CipherState::ChaChaPoly(_, Some(tag)) => tag.take(0, data),
            _ => return false,
        }
        true
    }

    /// Ends the additional data at the first text.
    fn begin_text(&mut self) {
        if !std::mem::replace(&mut self.has_text, true) {
            match &mut self.kind {
                CipherState::Gcm(_, Some(tag), _) => tag.end_part(),
                CipherState::ChaChaPoly(_, Some(tag)) => tag.end_part(),
                _ => {}
            }
        }
    }

    /// Processes a piece and returns its output; `None` if the keystream has ended or the tag was
    /// taken.
    fn update(&mut self, mut data: Vec<u8>) -> Option<Vec<u8>> {
        self.begin_text();
        match &mut self.kind {
            CipherState::Ecb(_) | CipherState::Cbc(..) => return Some(self.blocks(&data)),
            CipherState::Ctr(counter) => counter.apply(&mut data),
            CipherState::Feedback(state) => state.apply(self.encrypt, &mut data),
            CipherState::ChaCha(stream) => stream.try_apply_keystream(&mut data).ok()?,
            CipherState::Gcm(counter, tag, _) => {
                let tag = tag.as_mut()?;
                if !self.encrypt {
                    tag.take(1, &data);
                }
                counter.apply(&mut data);
                if self.encrypt {
                    tag.take(1, &data);
                }
            }
            CipherState::ChaChaPoly(stream, tag) => {
                let tag = tag.as_mut()?;
                if !self.encrypt {
                    tag.take(1, &data);
                }
                stream.try_apply_keystream(&mut data).ok()?;
                if self.encrypt {
                    tag.take(1, &data);
                }
            }
        }
        Some(data)
    }

    /// Processes the whole blocks of the available data, in block modes. Decryption keeps back the
    /// last block, which may have the padding.
    fn blocks(&mut self, data: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(data);
        let mut whole = all.len() - all.len() % BLOCK;
        if !self.encrypt && self.padding && whole == all.len() {
            whole = whole.saturating_sub(BLOCK);
        }
        self.rest = all.split_off(whole);
        self.whole_blocks(&mut all);
        all
    }

    fn whole_blocks(&mut self, data: &mut [u8]) {
        match &mut self.kind {
            CipherState::Ecb(aes) if self.encrypt => aes.encrypt(data),
            CipherState::Ecb(aes) => aes.decrypt(data),
            CipherState::Cbc(aes, last) if self.encrypt => {
                for block in data.chunks_exact_mut(BLOCK) {
                    xor(block, last);
                    aes.encrypt(block);
                    last.copy_from_slice(block);
                }
            }
            CipherState::Cbc(aes, last) => {
                let mut before = last.to_vec();
                before.extend_from_slice(data);
                aes.decrypt(data);
                xor(data, &before);
                last.copy_from_slice(&before[before.len() - BLOCK..]);
            }
            _ => {}
        }
    }

    /// Returns the rest of the output at the end of the text. The error is `length` if the text is
    /// not a multiple of the block size, and `padding` if its padding is wrong.
    fn finish(&mut self) -> std::result::Result<Vec<u8>, &'static str> {
        self.begin_text();
        if !matches!(self.kind, CipherState::Ecb(_) | CipherState::Cbc(..)) {
            return Ok(Vec::new());
        }
        let mut rest = std::mem::take(&mut self.rest);
        if !self.padding {
            return if rest.is_empty() { Ok(rest) } else { Err("length") };
        }
        if self.encrypt {
            let fill = BLOCK - rest.len();
            rest.resize(BLOCK, fill as u8);
            self.whole_blocks(&mut rest);
            return Ok(rest);
        }
        if rest.len() != BLOCK {
            return Err("length");
        }
        self.whole_blocks(&mut rest);
        let fill = usize::from(rest[BLOCK - 1]);
        let is_padding = (1..=BLOCK).contains(&fill);
        if !is_padding || rest[BLOCK - fill..].iter().any(|b| usize::from(*b) != fill) {
            return Err("padding");
        }
        rest.truncate(BLOCK - fill);
        Ok(rest)
    }

    /// Returns the tag of all input; `None` if the cipher has no tag, or it was already taken.
    fn tag(&mut self) -> Option<Vec<u8>> {
        match &mut self.kind {
            CipherState::Gcm(_, tag, mask) => {
                let mut made = tag.take()?.finish(|lengths| lengths.map(|n| (n * 8).to_be_bytes()));
                xor(&mut made, mask);
                Some(made.to_vec())
            }
            CipherState::ChaChaPoly(_, tag) => {
                Some(tag.take()?.finish(|lengths| lengths.map(u64::to_le_bytes)).to_vec())
            }
            _ => None,
        }
    }
}

/// Returns a cipher as a function of an operation and bytes, or nothing if the mode is unknown or a
/// length does not fit.
fn cipher<'js>(
    ctx: Ctx<'js>,
    mode: TextArgument,
    encrypt: bool,
    key: BufferArgument,
    iv: BufferArgument,
) -> Result<Option<Function<'js>>> {
    let Some(kind) = CipherState::new(&mode.0, &key.0, &iv.0) else { return Ok(None) };
    let cipher = Cipher { kind, encrypt, padding: true, rest: Vec::new(), has_text: false };
    let cipher = RefCell::new(cipher);
    let run = move |ctx: Ctx<'js>,
                    what: TextArgument,
                    data: Opt<BufferArgument>|
          -> Result<ArrayBuffer<'js>> {
        let mut cipher = cipher.borrow_mut();
        let data = data.0.map(|BufferArgument(data)| data).unwrap_or_default();
        let made = match what.0.as_str() {
            "update" => cipher.update(data),
            "final" => match cipher.finish() {
                Ok(rest) => Some(rest),
                Err(why) => return Err(throw_text(&ctx, why)),
            },
            "tag" => cipher.tag(),
            "aad" => cipher.additional(&data).then(Vec::new),
            "padding" => {
                cipher.padding = data.first() == Some(&1);
                Some(Vec::new())
            }
            _ => None,
        };
        give(ctx, made)
    };
    Function::new(ctx, run).map(Some)
}

/// Wraps a key in another one, or unwraps it (RFC 3394). Throws `EBADMSG` if the check value is not
/// `iv`.
fn wrap<'js>(
    ctx: Ctx<'js>,
    encrypt: bool,
    key: BufferArgument,
    iv: BufferArgument,
    data: BufferArgument,
) -> Result<ArrayBuffer<'js>> {
    let fits = data.0.len().is_multiple_of(8) && data.0.len() >= if encrypt { 16 } else { 24 };
    let (Some(aes), true, Ok(iv)) = (Aes::new(&key.0), fits, <[u8; 8]>::try_from(iv.0.as_slice()))
    else {
        return give(ctx, None);
    };
    let (mut check, mut parts) = if encrypt {
        (iv, data.0)
    } else {
        let (check, parts) = data.0.split_at(8);
        (check.try_into().unwrap_or_default(), parts.to_vec())
    };
    let count = parts.len() / 8;
    let step = |check: &mut [u8; 8], part: &mut [u8], number: u64| {
        let mut block = [0; BLOCK];
        let number = number.to_be_bytes();
        block[..8].copy_from_slice(check);
        block[8..].copy_from_slice(part);
        if encrypt {
            aes.encrypt(&mut block);
            xor(&mut block[..8], &number);
        } else {
            xor(&mut block[..8], &number);
            aes.decrypt(&mut block);
        }
        check.copy_from_slice(&block[..8]);
        part.copy_from_slice(&block[8..]);
    };
    for round in 0..6 {
        for i in 0..count {
            let (round, i) = if encrypt { (round, i) } else { (5 - round, count - 1 - i) };
            step(&mut check, &mut parts[i * 8..][..8], (count * round + i + 1) as u64);
        }
    }
    if encrypt {
        give(ctx, Some([&check[..], &parts].concat()))
    } else if check == iv {
        give(ctx, Some(parts))
    } else {
        Err(throw_text(&ctx, "EBADMSG"))
    }
}

pub fn install(native: &Object<'_>) -> Result<()> {
    native.set("cipher", Func::from(cipher))?;
    native.set("keyWrap", Func::from(wrap))
}
