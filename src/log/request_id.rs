//! The id by which a refusal can be found again: the body and the log line of one request have the
//! same one.

/// The longest id that is taken from the platform, in characters. `CF-Ray` has 20.
const LONGEST: usize = 64;

/// The id of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId {
    text: String,
    is_ray: bool,
}

impl RequestId {
    /// Takes the request's `CF-Ray`, where it has one of letters, digits and hyphens. Otherwise
    /// writes `random` as 16 hexadecimal digits.
    pub fn new(ray: Option<&str>, random: u64) -> RequestId {
        let is_good = |ray: &&str| {
            (1..=LONGEST).contains(&ray.len()) && ray.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        match ray.filter(is_good) {
            Some(ray) => RequestId { text: ray.to_owned(), is_ray: true },
            None => RequestId { text: format!("{random:016x}"), is_ray: false },
        }
    }

    /// The id: printable ASCII without quotes.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is the platform's own id, which the client sees in the header `CF-Ray`.
    pub fn is_ray(&self) -> bool {
        self.is_ray
    }

    /// The header that tells the client the id. `None` where the platform tells it.
    pub fn header(&self) -> Option<(&'static str, String)> {
        (!self.is_ray).then(|| (HEADER, self.text.clone()))
    }
}

/// The header of an id that is not the platform's.
pub const HEADER: &str = "Penstock-Request-Id";
