//! Keyed 128-bit digests: what stands for a caller in names of objects, stored rows and logs.
//!
//! BLAKE3 derives one key per kind of caller from the deployment's secret, and each caller is hashed under the key
//! of its kind. So a key that reads like an address is never taken for that address, and a digest cannot be
//! turned back by trying all addresses unless `SECRET` is known. Without a `SECRET` it can: then the digests only
//! keep names short and logs free of raw keys.

use core::fmt;
use core::num::NonZeroU32;
use core::str::FromStr;

/// The deployment's `SECRET`. Its `Debug` prints nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// One caller, as all of Penstock but this folder knows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject([u8; 16]);

/// Makes [`Subject`]s. Built once per isolate: deriving its keys costs as much as a few digests.
#[derive(Clone)]
pub struct Digester {
    ip: [u8; 32],
    worker: [u8; 32],
    unknown: [u8; 32],
    key: [u8; 32],
    deployment: [u8; 32],
}

/// The text is not 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotASubject;

/// The kinds of caller; no two kinds share a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DigestKind {
    Ip,
    Worker,
    Unknown,
    Key,
    Deployment,
}

impl Secret {
    /// The secret `text`, every byte of it. `None` where it is blank: that protects nothing.
    pub fn new(text: &str) -> Option<Secret> {
        (!text.trim().is_empty()).then(|| Secret(text.to_owned()))
    }
}

impl Digester {
    /// Digests keyed by `secret`; without one, digests that anyone could compute.
    pub fn new(secret: Option<&Secret>) -> Digester {
        let secret = secret.map_or("", |secret| secret.0.as_str());
        // These texts decide every stored name: changing one forgets every caller.
        let derived = |context| blake3::derive_key(context, secret.as_bytes());
        Digester {
            ip: derived("penstock 2026 subject ip"),
            worker: derived("penstock 2026 subject worker"),
            unknown: derived("penstock 2026 subject unknown"),
            key: derived("penstock 2026 subject key"),
            deployment: derived("penstock 2026 deployment"),
        }
    }

    /// A name for this deployment, made of what it forwards to and its secret.
    pub fn deployment(&self, origin: &str) -> String {
        self.subject(DigestKind::Deployment, origin.as_bytes()).to_string()
    }

    pub(super) fn subject(&self, kind: DigestKind, bytes: &[u8]) -> Subject {
        let key = match kind {
            DigestKind::Ip => &self.ip,
            DigestKind::Worker => &self.worker,
            DigestKind::Unknown => &self.unknown,
            DigestKind::Key => &self.key,
            DigestKind::Deployment => &self.deployment,
        };
        let mut half = [0; 16];
        blake3::Hasher::new_keyed(key).update(bytes).finalize_xof().fill(&mut half);
        Subject(half)
    }
}

impl Subject {
    /// The subject with these bytes, as [`Subject::to_bytes`] gave them.
    pub const fn from_bytes(bytes: [u8; 16]) -> Subject {
        Subject(bytes)
    }

    /// Its bytes.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// The one of 256 that it is counted among where there are too many to tell apart.
    pub const fn crowd(self) -> Subject {
        let [byte, ..] = self.0;
        Subject([byte; 16])
    }

    /// Which of `count` shards it lives in: 0 to `count` − 1, evenly spread.
    pub fn shard(self, count: NonZeroU32) -> u32 {
        let number = u128::from_be_bytes(self.0);
        u32::try_from(number.checked_rem(u128::from(count.get())).unwrap_or(0)).unwrap_or(0)
    }
}

impl fmt::Display for Subject {
    /// Prints 32 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subject({self})")
    }
}

impl FromStr for Subject {
    type Err = NotASubject;

    /// Reads what `Display` prints.
    fn from_str(text: &str) -> Result<Subject, NotASubject> {
        let digits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(digits) {
            return Err(NotASubject);
        }
        u128::from_str_radix(text, 16).map(|number| Subject(number.to_be_bytes())).map_err(|_| NotASubject)
    }
}

impl fmt::Display for NotASubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a subject: 32 lower-case hexadecimal digits")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(REDACTED)")
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digester(REDACTED)")
    }
}
