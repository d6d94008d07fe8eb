//! What arrived at each hop in each step.

use crate::evidence::{At, Evidence, Step};
use crate::promise::AmplificationPolicy;

/// One step of the scenario, counted.
#[derive(Debug)]
pub(super) struct Row<'e> {
    /// The step.
    pub step: &'e Step,
    /// Client requests.
    pub requests: usize,
    /// Arrivals at each hop, refused connections included.
    pub arrivals: Vec<usize>,
}

impl<'e> Row<'e> {
    /// Counts a step. What arrives after its end and before the next step begins is still its own.
    pub(super) fn of(evidence: &'e Evidence, step: &'e Step, policy: &AmplificationPolicy) -> Self {
        let next = evidence.steps.iter().map(|s| s.from).filter(|from| *from > step.from).min();
        let mine = |at: At| at >= step.from && next.is_none_or(|next| at < next);
        let at_link = |link: &str| {
            let attempts = evidence.attempts.iter().filter(|a| a.link == link && mine(a.arrived)).count();
            let refused = |c: &&crate::evidence::Connection| c.requests == 0 && c.fault.is_some();
            let refused = evidence.connections.iter().filter(refused).filter(|c| c.link == link && mine(c.accepted));
            attempts + refused.count()
        };
        Self {
            step,
            requests: evidence.outcomes.iter().filter(|o| o.is_payment() && o.step == step.name).count(),
            arrivals: policy.hops.iter().map(|hop| at_link(&hop.link)).collect(),
        }
    }

    /// Arrivals at the last hop.
    pub(super) fn last(&self) -> usize {
        self.arrivals.last().copied().unwrap_or(0)
    }

    /// Calls to the last hop for each client request.
    pub(super) fn factor(&self) -> f64 {
        self.last() as f64 / self.requests.max(1) as f64
    }

    /// The first hop that saw more than its declared attempts for each arrival before it.
    pub(super) fn over(&self, policy: &AmplificationPolicy) -> Option<usize> {
        let before = std::iter::once(self.requests).chain(self.arrivals.iter().copied());
        let mut hops = before.zip(self.arrivals.iter().copied()).zip(&policy.hops);
        hops.position(|((before, here), hop)| here > before * hop.attempts as usize)
    }
}

/// The table of all steps: requests, then arrivals at each hop with their factor over the hop before.
pub(super) fn table(rows: &[Row<'_>], policy: &AmplificationPolicy) -> Vec<String> {
    let name = rows.iter().map(|r| r.step.name.len()).max().unwrap_or(4).max(8);
    let head = policy.hops.iter().map(|hop| format!("  {:>16}", format!("{} (<= {})", hop.link, hop.attempts)));
    let mut lines = vec![format!("{:name$}  {:>8}{}  {:>8}", "step", "requests", head.collect::<String>(), "overall")];
    for row in rows {
        let before = std::iter::once(row.requests).chain(row.arrivals.iter().copied());
        let cells = before.zip(&row.arrivals).map(|(before, here)| {
            let factor = if before == 0 { "-".to_owned() } else { format!("x{:.2}", *here as f64 / before as f64) };
            format!("  {:>16}", format!("{here} {factor}"))
        });
        let overall = format!("x{:.2}", row.factor());
        let (step, requests) = (&row.step.name, row.requests);
        lines.push(format!("{step:name$}  {requests:>8}{}  {overall:>8}", cells.collect::<String>()));
    }
    lines.push(format!("declared: at most x{} overall", policy.bound()));
    lines
}
