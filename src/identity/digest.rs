//! Keyed 128-bit digests. They stand for callers in the names of actors, in stored rows and in
//! logs.
//!
//! BLAKE3 derives one key per kind of caller from the deployment's secret. Each caller is hashed
//! under the key of its kind, so an API key that reads like an address is never that address.
//!
//! With a `SECRET`, trying all addresses does not find the one behind a digest. Without a `SECRET`
//! it does; the digests then only keep names short, and logs free of raw keys.

use core::fmt;
use core::num::NonZeroU32;
use core::str::FromStr;

/// The least length of a `SECRET`, in bytes. A shorter one may be found by trying texts.
const LEAST_SECRET_LENGTH: usize = 16;

/// The least number of different bytes in a `SECRET`. Random texts of 16 bytes have more.
const LEAST_SECRET_VARIETY: usize = 6;

/// A secret text of the deployment. `Debug` prints nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// The 128-bit digest of one caller. It is all that the rest of Penstock knows of that caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject([u8; 16]);

/// Makes [`Subject`]s. Each isolate builds one and keeps it, because deriving the keys costs as
/// much as a few digests.
#[derive(Clone)]
pub struct Digester {
    ip: [u8; 32],
    worker: [u8; 32],
    unknown: [u8; 32],
    key: [u8; 32],
    deployment: [u8; 32],
}

/// The error for a text that is not 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotASubject;

/// The kinds of text that are digested. Two kinds never share a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DigestKind {
    /// The address of a client.
    Ip,
    /// The zone of a Worker.
    Worker,
    /// The one caller that stands for all requests without a readable address.
    Unknown,
    /// The key of a caller.
    Key,
    /// The origin of a deployment.
    Deployment,
}

impl Secret {
    /// Makes a secret of all bytes of `text`. `None`: the text is blank, which would protect
    /// nothing.
    pub fn new(text: &str) -> Option<Secret> {
        (!text.trim().is_empty()).then(|| Secret(text.to_owned()))
    }

    /// Returns the text, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the reason why the secret may be guessed, without a word of it. `None`: it is long
    /// and varied enough.
    pub fn weakness(&self) -> Option<String> {
        let variety = (0..=u8::MAX).filter(|byte| self.0.as_bytes().contains(byte)).count();
        (self.0.len() < LEAST_SECRET_LENGTH || variety < LEAST_SECRET_VARIETY).then(|| {
            format!(
                "can be guessed: it has under {LEAST_SECRET_LENGTH} bytes, or fewer than {LEAST_SECRET_VARIETY} different ones; `openssl rand -base64 32` makes a good one"
            )
        })
    }
}

impl Digester {
    /// Derives the keys from `secret`. `None`: the keys are derived from an empty text, so
    /// everybody can compute the digests.
    pub fn new(secret: Option<&Secret>) -> Digester {
        let secret = secret.map_or("", |secret| secret.0.as_str());
        // All stored names depend on these texts. A change of one makes every caller a new one.
        let derived = |context| blake3::derive_key(context, secret.as_bytes());
        Digester {
            ip: derived("penstock 2026 subject ip"),
            worker: derived("penstock 2026 subject worker"),
            unknown: derived("penstock 2026 subject unknown"),
            key: derived("penstock 2026 subject key"),
            deployment: derived("penstock 2026 deployment"),
        }
    }

    /// Returns a name for this deployment: 32 hexadecimal digits, made of its origin and its
    /// secret.
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
    /// Makes the subject of these bytes, as [`Subject::to_bytes`] returned them.
    pub const fn from_bytes(bytes: [u8; 16]) -> Subject {
        Subject(bytes)
    }

    /// Returns the 16 bytes of the digest.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Returns the group of this subject: one of 256, by its first byte. Where there are too many
    /// subjects to count each for itself, each group is counted as one.
    pub const fn group(self) -> Subject {
        let [byte, ..] = self.0;
        Subject([byte; 16])
    }

    /// Returns the shard of this subject, from 0 to `count` − 1. Subjects are spread evenly.
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
