//! Which form of explanation a client prefers.

use http::HeaderValue;

/// The form of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `application/problem+json`.
    Problem,
    /// `text/plain`.
    Text,
}

impl Form {
    /// The form that `Accept` prefers (RFC 9110 §12.5.1); a problem where it says nothing, prefers
    /// neither, or accepts neither: an explanation in the wrong form is better than none.
    pub(super) fn preferred<'a>(accept: impl IntoIterator<Item = &'a HeaderValue>) -> Self {
        let (mut problem, mut text) = (Match::default(), Match::default());
        for value in accept {
            for range in value.to_str().unwrap_or("").split(',') {
                let mut parts = range.split(';').map(str::trim);
                let media = parts.next().unwrap_or("").to_ascii_lowercase();
                let quality = parts.find_map(quality).unwrap_or(1000);
                problem.take(
                    &media,
                    ["application/problem+json", "application/json"],
                    quality,
                );
                text.take(&media, ["text/plain", "text/*"], quality);
            }
        }
        if text.quality > problem.quality {
            Self::Text
        } else {
            Self::Problem
        }
    }

    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::Problem => "application/problem+json",
            Self::Text => "text/plain; charset=utf-8",
        }
    }
}

/// `q=0.5` in thousandths, at most 1000.
fn quality(parameter: &str) -> Option<u32> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let quality: f32 = value.trim().parse().ok()?;
    // What is not between 0 and 1 is no weight: it counts as nothing.
    (0.0..=1.0)
        .contains(&quality)
        .then_some((quality * 1000.0) as u32)
        .or(Some(0))
}

/// The quality of a form by the most precise range that names it.
#[derive(Default)]
struct Match {
    precision: u32,
    quality: u32,
}

impl Match {
    /// `names` are the media type itself and a wider name of it.
    fn take(&mut self, media: &str, names: [&str; 2], quality: u32) {
        let group = names[0].split_once('/').map_or("", |(group, _)| group);
        let precision = match media {
            _ if media == names[0] => 4,
            _ if media == names[1] => 3,
            _ if media.strip_suffix("/*") == Some(group) => 2,
            "*/*" => 1,
            _ => return,
        };
        if precision > self.precision {
            *self = Self { precision, quality };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferred(accept: &[&str]) -> Form {
        let values: Vec<HeaderValue> = accept
            .iter()
            .map(|value| HeaderValue::from_str(value).expect("a value"))
            .collect();
        Form::preferred(&values)
    }

    #[test]
    fn a_problem_is_sent_unless_text_is_preferred() {
        for accept in [
            &[][..],
            &["*/*"],
            &["application/json"],
            &["application/problem+json, text/plain"],
            &["text/plain;q=0.5, application/json;q=0.6"],
            &["image/png"],
            &["text/plain;q=0"],
            &["text/plain;q=x2", "application/*"],
            &["garbage;;;q"],
        ] {
            assert_eq!(preferred(accept), Form::Problem, "{accept:?}");
        }
        for accept in [
            &["text/plain"][..],
            &["TEXT/Plain; Q=0.9"],
            &["text/*"],
            &["application/json;q=0.4, text/plain;q=0.5"],
            &["text/html, text/plain"],
            &["*/*;q=0.1, text/plain"],
            &["application/*;q=0.2", "text/plain;q=0.3"],
        ] {
            assert_eq!(preferred(accept), Form::Text, "{accept:?}");
        }
    }

    #[test]
    fn the_most_precise_range_counts() {
        let accept = ["text/plain;q=0.1, text/*;q=1, application/problem+json;q=0.2"];
        assert_eq!(preferred(&accept), Form::Problem);
    }
}
