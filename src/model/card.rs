//! A card: where a model comes from, as the text of a JSON object.

use crate::memory::copied_text;
use alloc::string::String;

/// The largest card, in bytes.
pub const MAX_CARD: usize = 1 << 20;
/// How deeply the values of a card may be nested.
const MAX_DEPTH: usize = 16;
/// The longest number: readers have limits of their own.
const MAX_DIGITS: usize = 64;

/// A JSON object of bounded size and depth. No text in it has half of a surrogate pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card(String);

impl Card {
    /// Checks a text. If it is not a card, says what a card must be.
    ///
    /// # Errors
    /// The second half of a sentence that begins with "must".
    pub fn new(text: String) -> Result<Self, &'static str> {
        if text.len() > MAX_CARD {
            return Err("have at most 1048576 bytes");
        }
        let mut scan = Scan { bytes: text.as_bytes() };
        if scan.peek() == Some(b'{') && scan.value(MAX_DEPTH).is_some() && scan.bytes.is_empty() {
            return Ok(Self(text));
        }
        Err("be a JSON object, nested at most 16 deep")
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> crate::Result<Self> {
        copied_text(&self.0).map(Self)
    }

    /// Returns the JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads JSON from front to back and keeps nothing. Its methods return `None` at the first error.
struct Scan<'a> {
    bytes: &'a [u8],
}

impl Scan<'_> {
    /// Returns the next byte.
    fn peek(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.next();
        }
    }

    fn literal(&mut self, text: &str) -> Option<()> {
        self.bytes = self.bytes.strip_prefix(text.as_bytes())?;
        Some(())
    }

    /// Reads a value that contains at most `depth - 1` levels of others.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' => self.list(depth.checked_sub(1)?, b'}', Self::member),
            b'[' => self.list(depth.checked_sub(1)?, b']', Self::value),
            b'"' => self.text(),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number(),
        }
    }

    /// Reads an object or an array.
    fn list(
        &mut self,
        depth: usize,
        end: u8,
        item: fn(&mut Self, usize) -> Option<()>,
    ) -> Option<()> {
        self.next()?;
        self.skip_space();
        if self.peek()? == end {
            return self.next().map(drop);
        }
        loop {
            self.skip_space();
            item(self, depth)?;
            self.skip_space();
            match self.next()? {
                b',' => {}
                byte => return (byte == end).then_some(()),
            }
        }
    }

    fn member(&mut self, depth: usize) -> Option<()> {
        self.text()?;
        self.skip_space();
        self.literal(":")?;
        self.skip_space();
        self.value(depth)
    }

    fn text(&mut self) -> Option<()> {
        self.literal("\"")?;
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                0..b' ' => return None,
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => match self.code_unit()? {
                0xd800..0xdc00 => {
                    self.literal("\\u")?;
                    (0xdc00..0xe000).contains(&self.code_unit()?).then_some(())
                }
                0xdc00..0xe000 => None,
                _ => Some(()),
            },
            _ => None,
        }
    }

    /// Reads four hexadecimal digits.
    fn code_unit(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |value, _| Some(16 * value + char::from(self.next()?).to_digit(16)?))
    }

    fn number(&mut self) -> Option<()> {
        let before = self.bytes.len();
        if self.peek() == Some(b'-') {
            self.next()?;
        }
        if self.literal("0").is_none() {
            self.digits()?;
        }
        if self.literal(".").is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.next()?;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.next()?;
            }
            self.digits()?;
        }
        (before - self.bytes.len() <= MAX_DIGITS).then_some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.bytes = self.bytes.get(count..)?;
        (count > 0).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_card(text: &str) -> bool {
        Card::new(text.to_owned()).is_ok()
    }

    #[test]
    fn json_objects_are_cards() {
        for text in [
            "{}",
            r#"{"a":1}"#,
            r#"{ "a" : [ ] , "b": [1, -0.5e+3, 0, true, false, null, {"c": "é\u00e9\n\ud83d\ude00"}] }"#,
        ] {
            assert!(is_card(text), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "", "[]", "1", "\"a\"", " {}", "{} ", "{", "{]", "[}", "{a:1}", r#"{"a"}"#, r#"{"a":}"#,
            r#"{"a":1,}"#, r#"{"a":[1,]}"#, r#"{"a":01}"#, r#"{"a":1.}"#, r#"{"a":.5}"#, r#"{"a":+1}"#,
            r#"{"a":1e}"#, r#"{"a":-}"#, r#"{"a":NaN}"#, r#"{"a":Infinity}"#, r#"{"a":truth}"#, r#"{"a":"\x"}"#,
            r#"{"a":"\u12g4"}"#, r#"{"a":"\ud800"}"#, r#"{"a":"\ud800\u0041"}"#, r#"{"a":"\udc00"}"#,
            "{\"a\":\"\n\"}", "{\"a\":\"", r#"{"a":1 2}"#, "{}{}", "{\x0c}",
        ] {
            assert!(!is_card(text), "{text}");
        }
    }

    #[test]
    fn depth_size_and_numbers_are_bounded() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_card(&nested(15)));
        assert!(!is_card(&nested(16)));
        assert!(!is_card(&nested(100_000)), "no stack overflow");
        let sized = |size: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(size - 8));
        assert!(is_card(&sized(MAX_CARD)));
        assert!(!is_card(&sized(MAX_CARD + 1)));
        let digits = |count: usize| format!("{{\"a\":{}}}", "1".repeat(count));
        assert!(is_card(&digits(64)));
        assert!(!is_card(&digits(65)));
    }
}
