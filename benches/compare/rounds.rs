//! Alternating runs: whatever slows the machine for a while slows all who are compared.

use std::time::Instant;

/// Somebody who is compared: a name, and one run, which says how many operations it made.
pub(crate) struct Contestant<'a> {
    pub(crate) name: String,
    pub(crate) run: Box<dyn FnMut() -> u64 + 'a>,
}

impl<'a> Contestant<'a> {
    pub(crate) fn new(name: impl Into<String>, run: impl FnMut() -> u64 + 'a) -> Self {
        Self {
            name: name.into(),
            run: Box::new(run),
        }
    }
}

/// What one of them needed.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) name: String,
    /// Nanoseconds for each operation: the median of all runs.
    pub(crate) median_ns: f64,
    /// Half the distance between the fastest and the slowest run.
    pub(crate) spread_ns: f64,
    /// The same for each run, in their order.
    runs_ns: Vec<f64>,
}

impl Measured {
    pub(crate) fn shown(&self) -> String {
        format!("{:.0} ± {:.0}", self.median_ns, self.spread_ns)
    }

    /// How many times longer than `other` it needs: the median of what the rounds say, each of which
    /// had the machine as it was then.
    pub(crate) fn ratio_to(&self, other: &Self) -> f64 {
        let rounds = self.runs_ns.iter().zip(&other.runs_ns);
        let mut ratios: Vec<f64> = rounds.map(|(own, other)| own / other).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }

    pub(crate) fn per_second(&self) -> f64 {
        1e9 / self.median_ns
    }
}

/// Lets all run in turn, `rounds` times after a first time that does not count.
pub(crate) fn measure(mut contestants: Vec<Contestant<'_>>, rounds: usize) -> Vec<Measured> {
    let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(rounds); contestants.len()];
    for round in 0..=rounds {
        for (contestant, times) in contestants.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            let operations = (contestant.run)();
            let took = begun.elapsed().as_nanos() as f64 / operations as f64;
            if round > 0 {
                times.push(took);
            }
        }
    }
    contestants
        .into_iter()
        .zip(times)
        .map(|(contestant, runs_ns)| {
            let mut times = runs_ns.clone();
            times.sort_by(f64::total_cmp);
            Measured {
                name: contestant.name,
                median_ns: times[times.len() / 2],
                spread_ns: (times[times.len() - 1] - times[0]) / 2.0,
                runs_ns,
            }
        })
        .collect()
}
