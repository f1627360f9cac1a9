//! Commands and keys as a table has room for them.

/// Longer words are cut in their middle.
const LONGEST_WORD: usize = 24;
/// What is left of them at each end.
const END: usize = 11;
/// More words are counted instead.
const MOST_WORDS: usize = 8;

/// What is said below a table in which something was cut.
const CUT: &str = "what is cut at … is whole in `replay TOKEN --json`\n";

/// The text with long words cut in their middle, and its tail where there are many.
pub(super) fn brief(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(brief_word).collect();
    match words.len() {
        0..=MOST_WORDS => words.join(" "),
        all => format!(
            "{} … {} more",
            words[..MOST_WORDS].join(" "),
            all - MOST_WORDS
        ),
    }
}

fn brief_word(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= LONGEST_WORD {
        return word.to_owned();
    }
    let (head, tail) = (&letters[..END], &letters[letters.len() - END..]);
    head.iter().chain(['…'].iter()).chain(tail).collect()
}

/// The sentence that says so, if any of these was cut.
pub(super) fn note<'a>(mut texts: impl Iterator<Item = &'a String>) -> &'static str {
    match texts.any(|text| brief(text) != *text) {
        true => CUT,
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_commands_stay_as_they_are() {
        for command in ["", "GET budget", "EVALSHA e0e1f9fa… 1 budget 5 1 60000"] {
            assert_eq!(brief(command), command);
        }
    }

    #[test]
    fn a_long_key_keeps_its_ends_and_many_arguments_are_counted() {
        let key = "limiter:{4567397e086fc599}1:aligned:1000:requests:simulation:=budget";
        assert_eq!(brief(&format!("GET {key}")), "GET limiter:{45…ion:=budget");
        assert_eq!(
            brief("M 1 2 3 4 5 6 7 8 9 10 11"),
            "M 1 2 3 4 5 6 7 … 4 more"
        );
        assert_eq!(brief(&"ü".repeat(30)), format!("{0}…{0}", "ü".repeat(11)));
    }
}
