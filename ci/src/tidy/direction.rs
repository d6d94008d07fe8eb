//! Who may depend on whom (`evidence <- {judge, chaos-proxy} <- harness <- {harness-cli, suites}`).

use super::Finding;
use crate::workspace::Member;

/// For each member of ours, the members it may use. Dependencies for tests count too: a test that looks over
/// the wall would soon be followed by code.
const ALLOWED: &[(&str, &[&str])] = &[
    ("ci", &[]),
    ("evidence", &[]),
    ("judge", &["evidence"]),
    ("payments", &[]),
    ("mock-bank", &["evidence"]),
    ("heap", &[]),
    ("chaos-proxy", &["evidence", "heap"]),
    ("harness", &["judge", "chaos-proxy", "mock-bank"]),
    ("harness-cli", &["judge", "chaos-proxy", "harness", "mock-bank"]),
    ("suites", &["judge", "chaos-proxy", "harness", "mock-bank", "payments"]),
];

/// Members that depend on what they must not know.
pub fn check(members: &[Member]) -> Vec<Finding> {
    let ours = |name: &str| members.iter().any(|member| member.name == name);
    let mut findings = Vec::new();
    for member in members {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == member.name) else {
            let what = format!("nobody decided what {} may depend on", member.name);
            findings.push(Finding::new(&member.manifest, 1, what, "add it to ALLOWED in ci/src/tidy/direction.rs"));
            continue;
        };
        for name in member.dependencies.iter().filter(|name| ours(name) && !allowed.contains(&name.as_str())) {
            let what = format!("{} depends on {name}", member.name);
            let fix = match allowed {
                [] => "it may use none of ours: remove the dependency".to_owned(),
                allowed => format!("it may use only {}: move the code to the right side", allowed.join(", ")),
            };
            findings.push(Finding::new(&member.manifest, 1, what, fix));
        }
    }
    if let Some(ci) = members.iter().find(|member| member.name == "ci" && !member.dependencies.is_empty()) {
        let what = format!("ci depends on {}", ci.dependencies.join(", "));
        findings.push(Finding::new(&ci.manifest, 1, what, "keep it to the standard library"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, dependencies: &[&str]) -> Member {
        let dependencies = dependencies.iter().map(|&it| it.to_owned()).collect();
        Member { name: name.to_owned(), manifest: format!("{name}/Cargo.toml"), dependencies }
    }

    /// Proves that the designed tree passes and that each wrong edge is named once.
    #[test]
    fn wrong_edges_are_named() {
        let sound = [
            member("judge", &["evidence", "serde"]),
            member("chaos-proxy", &["evidence", "tokio"]),
            member("mock-bank", &["axum"]),
            member("harness", &["chaos-proxy", "judge", "mock-bank"]),
            member("payments", &["axum"]),
            member("suites", &["harness", "judge", "payments"]),
            member("ci", &[]),
        ];
        assert_eq!(check(&sound), []);
        for (index, edge, expected) in [
            (0, "chaos-proxy", "judge depends on chaos-proxy"),
            (1, "harness", "chaos-proxy depends on harness"),
            (1, "judge", "chaos-proxy depends on judge"),
            (2, "chaos-proxy", "mock-bank depends on chaos-proxy"),
            (3, "payments", "harness depends on payments"),
            (4, "judge", "payments depends on judge"),
            (6, "serde", "ci depends on serde"),
        ] {
            let mut members = sound.clone();
            members[index].dependencies.push(edge.to_owned());
            let whats: Vec<String> = check(&members).into_iter().map(|finding| finding.what).collect();
            assert_eq!(whats, [expected]);
        }
        assert_eq!(check(&[member("evidence", &["serde"])]), []);
        assert_eq!(check(&[member("evidence", &["judge"]), member("judge", &[])]).len(), 1);
        assert_eq!(check(&[member("new", &[])]).len(), 1);
    }
}
