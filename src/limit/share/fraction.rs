//! A fraction of a rate.

use crate::limit::time::Span;

/// A fraction of a rate, from nothing to all of it, in parts of 2³².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fraction(u64);

impl Fraction {
    /// No part of the rate.
    pub const ZERO: Fraction = Fraction(0);

    /// The whole rate.
    pub const ONE: Fraction = Fraction(1 << 32);

    /// `parts` of 2³². The sum of what is out may exceed [`Fraction::ONE`] while a limit that was
    /// lowered still has parts of the higher rate out.
    pub const fn from_parts(parts: u64) -> Fraction {
        Fraction(parts)
    }

    /// This fraction in parts of 2³².
    pub const fn parts(self) -> u64 {
        self.0
    }

    /// One part in `divisor` of the whole rate; nothing if `divisor` is zero.
    pub const fn one_in(divisor: u64) -> Fraction {
        match Fraction::ONE.0.checked_div(divisor) {
            Some(parts) => Fraction(parts),
            None => Fraction::ZERO,
        }
    }

    /// The fraction nearest to `value`, from nothing to all of it. A number that is none is
    /// nothing.
    pub fn from_f64(value: f64) -> Fraction {
        // A cast saturates, and makes zero of a number that is none.
        Fraction((value * Fraction::ONE.0 as f64) as u64).min(Fraction::ONE)
    }

    /// The sum of both.
    pub const fn plus(self, other: Fraction) -> Fraction {
        Fraction(self.0.saturating_add(other.0))
    }

    /// This fraction less `other`; nothing if `other` is larger.
    pub const fn minus(self, other: Fraction) -> Fraction {
        Fraction(self.0.saturating_sub(other.0))
    }

    /// This fraction of `span`, at most all of it, rounded up.
    pub fn of(self, span: Span) -> Span {
        let product = u128::from(self.min(Fraction::ONE).0).saturating_mul(u128::from(span.as_nanos()));
        narrow(product.div_ceil(u128::from(Fraction::ONE.0)))
    }

    /// The span of which this fraction is `span`, rounded up. Of a bucket's interval it is the
    /// interval of the part that regains this fraction of its rate. Endless for no fraction.
    pub fn whole_of(self, span: Span) -> Span {
        let product = u128::from(span.as_nanos()).saturating_mul(u128::from(Fraction::ONE.0));
        product
            .checked_add(u128::from(self.0.saturating_sub(1)))
            .map_or(narrow(u128::MAX), |sum| narrow(sum.checked_div(u128::from(self.0)).unwrap_or(u128::MAX)))
    }

    /// This fraction of a rate of one token per `old`, as a fraction of one token per `new`: the
    /// same tokens per second. Rounded up.
    pub fn rescaled(self, old: Span, new: Span) -> Fraction {
        let product = u128::from(self.0).saturating_mul(u128::from(new.as_nanos()));
        let old = u128::from(old.as_nanos().max(1));
        Fraction(u64::try_from(product.div_ceil(old)).unwrap_or(u64::MAX))
    }
}

/// `nanos` nanoseconds, or the longest span if there are more.
pub(super) fn narrow(nanos: u128) -> Span {
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
