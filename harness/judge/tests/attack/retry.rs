//! Scenes of what limits retries, of what is told of them, and of waits that return after a restart.

use std::time::Duration;

use judge::checks::{Check, retry};
use judge::evidence::{Attempt, Evidence};
use judge::promise::{BudgetPolicy, Deposit, Noise, RetryAfterPolicy, RetryPolicy};
use judge::sim::Policy;

use super::limits::after_service::{self, Reads};
use super::limits::budget_service::{self, Keeps};
use super::limits::deadline_service::{self, Is};
use super::limits::promise::policy;
use super::limits::{pushback_service, telemetry_service};
use super::payments::{restarts, retry_policy, steadily};
use super::scene::{Scene, Steps};
use crate::support::LINK;

pub fn scenes() -> Vec<Scene> {
    let mut all = vec![retry_after(), deadline(), pushback(), telemetry(), restart()];
    all.extend([GRPC, RATIO, SHARE, QUOTA].map(budget));
    all
}

fn scene(name: &'static str, check: Check, sound: Evidence, broken: Vec<(String, Evidence)>) -> Scene {
    Scene { name, checks: vec![check], more: sound.clone(), sound, broken, steps: Steps::Same }
}

fn retry_after() -> Scene {
    let check = retry::retry_after_is_honoured(&policy(), &RetryAfterPolicy::default(), LINK, Noise::default());
    let wrong = [
        Reads::NotAtAll,
        Reads::MinutesForSeconds,
        Reads::SleepsItOut,
        Reads::SleepsAndTriesAgain,
        Reads::UnusableAsForever,
        Reads::UnusableAsGivingUp,
        Reads::NoDates,
        Reads::PastAsLong,
    ];
    let broken = wrong.map(|reads| (format!("{reads:?}"), after_service::play(reads)));
    let mut scene = scene("retry-after", check, after_service::play(Reads::Rightly), broken.into());
    // A date names a moment of the wall clock, which nothing that is played again later can move.
    let dated = |a: &Attempt| a.reply.retry_after.as_ref().is_some_and(|text| text.ends_with("GMT"));
    let keys: Vec<_> = scene.sound.attempts.iter().filter(|a| dated(a)).map(|a| a.key.clone()).collect();
    scene.more.attempts.retain(|a| !keys.contains(&a.key));
    scene.more.outcomes.retain(|o| !keys.contains(&o.key));
    scene.more.spans.clear();
    scene
}

fn deadline() -> Scene {
    let check = retry::deadline_and_cancel(&policy(), LINK, Noise::default());
    let wrong = [
        Is::BlindToTheDeadline,
        Is::LettingTheLastAttemptRunOn,
        Is::SleepingToTheDeadline,
        Is::AnsweringLate,
        Is::BlindToTheClient,
    ];
    let broken = wrong.map(|is| (format!("{is:?}"), deadline_service::play(is)));
    scene("retry-deadline", check, deadline_service::play(Is::Sound), broken.into())
}

fn pushback() -> Scene {
    type Wait = fn(&str) -> Option<u64>;
    let obeys = pushback_service::obeys;
    let wrong: [(&str, Wait); 5] = [
        ("its own law", |_| Some(100)),
        ("too early", |v| if v == "300" { Some(20) } else { pushback_service::obeys(v) }),
        ("too late", |v| if v == "300" { Some(900) } else { pushback_service::obeys(v) }),
        ("a stop that stops nothing", |v| if v == "-1" { Some(20) } else { pushback_service::obeys(v) }),
        ("every value stops", |_| None),
    ];
    let broken = wrong.map(|(name, wait)| (name.to_owned(), pushback_service::play(wait)));
    let check = retry::pushback_is_obeyed(&policy(), LINK, Noise::default());
    scene("pushback", check, pushback_service::play(obeys), broken.into())
}

fn telemetry() -> Scene {
    const COUNT: &str = "http.request.resend_count";
    let mut forgiven = telemetry_service::sound();
    forgiven.spans.iter_mut().for_each(|s| s.error = false);
    let mut lost = telemetry_service::sound();
    lost.spans.remove(4);
    let status = |rank| if rank == 0 { vec![("http.response.status_code", Some(200.into()))] } else { Vec::new() };
    let broken = [
        ("no count", telemetry_service::play(|_| vec![(COUNT, None)])),
        ("a count on the first attempt", telemetry_service::play(|rank| vec![(COUNT, Some(rank.into()))])),
        ("another status", telemetry_service::play(status)),
        ("no kind of error", telemetry_service::play(|_| vec![("error.type", None)])),
        ("no error", forgiven),
        ("a span that never came", lost),
        ("one span for two attempts", telemetry_service::one_span_for_two()),
    ];
    let broken = broken.map(|(name, evidence)| (name.to_owned(), evidence));
    scene("retry-telemetry", retry::spans_tell_of_resends(LINK), telemetry_service::sound(), broken.into())
}

fn restart() -> Scene {
    let check = retry::draws_anew(&retry_policy(), LINK, Noise::default());
    let played = |herds| restarts::played(&herds);
    let broken = [
        ("the same waits", played(restarts::again(60, 5, restarts::typical, |_| ()))),
        ("the same waits in reverse", played(restarts::again(60, 5, restarts::typical, |rows| rows.reverse()))),
    ];
    let broken = broken.map(|(name, evidence)| (name.to_owned(), evidence));
    let sound = played(restarts::anew(Policy::Full, 60, 5));
    // More waits drawn anew would dilute those that return: the clean evidence is of another step.
    Scene { more: steadily(), ..scene("retry-restart", check, sound, broken.into()) }
}

const GRPC: BudgetPolicy = BudgetPolicy::GrpcTokens { max_tokens: 20.0, token_ratio: 0.1 };
const RATIO: BudgetPolicy =
    BudgetPolicy::Ratio { ratio: 0.2, min_per_second: 1.0, ttl: Duration::from_secs(10), deposit: Deposit::Request };
const SHARE: BudgetPolicy = BudgetPolicy::ActiveShare { percent: 20.0, min_concurrency: 2 };
const QUOTA: BudgetPolicy = BudgetPolicy::AwsQuota { capacity: 60, retry_cost: 5, timeout_cost: 10, success: 1 };

fn budget(budget: BudgetPolicy) -> Scene {
    // The deadline would end payments whose attempts are as slow as those of the share's stage.
    let policy = RetryPolicy { deadline: None, ..policy() };
    let check = retry::budget_holds(&policy, &budget, LINK, Noise::default());
    let (name, wrong) = match budget {
        BudgetPolicy::GrpcTokens { .. } => ("retry-budget, tokens", Keeps::NeverRefilled),
        BudgetPolicy::Ratio { .. } => ("retry-budget, ratio", Keeps::NeverRefilled),
        BudgetPolicy::ActiveShare { .. } => ("retry-budget, share", Keeps::EmptyFromTheStart),
        BudgetPolicy::AwsQuota { .. } => ("retry-budget, quota", Keeps::OneForEachRequest),
    };
    let wrong = [Keeps::None, Keeps::TwiceAsMuch, wrong];
    let broken = wrong.map(|keeps| (format!("{keeps:?}"), budget_service::play(budget, keeps)));
    let sound = budget_service::play(budget, Keeps::Rightly);
    // A second budget, full at its begin, would be one that was never shared: clean are payments that need none.
    Scene { more: steadily(), ..scene(name, check, sound, broken.into()) }
}
