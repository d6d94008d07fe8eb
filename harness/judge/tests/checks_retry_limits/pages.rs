//! What a person reads of the limits of retries: whole findings, held against the pages that are kept.

use std::time::Duration;

use judge::checks::{Check, retry};
use judge::law::LawSpec;
use judge::promise::{BudgetPolicy, CapCheck, Deposit, Noise, OnTop, RetryAfterPolicy, RetryPolicy};

use crate::after_service::{Reads, play as told};
use crate::budget_service::{Keeps, play as spend};
use crate::cap_service::{Ends, Service, Waits};
use crate::deadline_service::{Is, play as hurry};
use crate::page::reads;
use crate::pushback_service::{obeys, play as push};
use crate::telemetry_service::{one_span_for_two, play as tell, sound};
use crate::{noisy, policy};

/// Proves what R8 tells: each value with what it asks for and what came, and the attempts of the first one that was ignored.
#[test]
fn pages_of_retry_after() {
    let all = [
        (Reads::Rightly, "after-rightly"),
        (Reads::NotAtAll, "after-not-at-all"),
        (Reads::MinutesForSeconds, "after-minutes"),
        (Reads::SleepsItOut, "after-slept-out"),
        (Reads::UnusableAsGivingUp, "after-given-up"),
    ];
    for (as_read, name) in all {
        let check = retry::retry_after_is_honoured(&policy(), &RetryAfterPolicy::default(), "bank", Noise::default());
        reads(&check.judge(&told(as_read)), name);
    }
    let limited =
        RetryAfterPolicy { jitter: OnTop::UpTo(Duration::from_millis(200)), limit: Some(Duration::from_millis(800)) };
    let check = retry::retry_after_is_honoured(&policy(), &limited, "bank", Noise::default());
    reads(&check.judge(&told(Reads::Rightly)), "after-limited");
}

/// Proves what R9 tells: the deadline and the attempts of the payment that outlived it, or of the client that had left.
#[test]
fn pages_of_the_deadline() {
    let all = [
        (Is::Sound, "deadline-kept"),
        (Is::BlindToTheDeadline, "deadline-blind"),
        (Is::LettingTheLastAttemptRunOn, "deadline-runs-on"),
        (Is::SleepingToTheDeadline, "deadline-slept"),
        (Is::AnsweringLate, "deadline-late"),
        (Is::BlindToTheClient, "deadline-client"),
    ];
    for (is, name) in all {
        reads(&retry::deadline_and_cancel(&policy(), "bank", Noise::default()).judge(&hurry(is)), name);
    }
    let nothing = RetryPolicy { deadline: None, stops_when_client_leaves: false, ..policy() };
    reads(
        &retry::deadline_and_cancel(&nothing, "bank", Noise::default()).judge(&hurry(Is::Sound)),
        "deadline-not-promised",
    );
}

/// Proves what R14 tells: each value, what it asks for and what came.
#[test]
fn pages_of_the_pushback() {
    let check = retry::pushback_is_obeyed(&policy(), "bank", Noise::default());
    reads(&check.judge(&push(obeys)), "pushback-obeyed");
    reads(&check.judge(&push(|_| Some(100))), "pushback-own-law");
    reads(&check.judge(&push(|v| if v == "300" { Some(900) } else { obeys(v) })), "pushback-late");
    reads(&check.judge(&push(|_| None)), "pushback-stopped");
}

/// Proves what R10 tells in each model: the window that held too many retries, and what the budget allows in it; the
/// payments that were given up while there was room.
#[test]
fn pages_of_the_budget() {
    let (ttl, floor) = (Duration::from_secs(10), 1.0);
    let ratio = |deposit| BudgetPolicy::Ratio { ratio: 0.2, min_per_second: floor, ttl, deposit };
    let models = [
        (BudgetPolicy::GrpcTokens { max_tokens: 20.0, token_ratio: 0.1 }, "grpc"),
        (ratio(Deposit::Request), "ratio"),
        (ratio(Deposit::Success), "success"),
        (BudgetPolicy::ActiveShare { percent: 20.0, min_concurrency: 2 }, "share"),
        (BudgetPolicy::AwsQuota { capacity: 60, retry_cost: 5, timeout_cost: 10, success: 1 }, "aws"),
    ];
    for (budget, model) in models {
        let promised = RetryPolicy { deadline: None, ..policy() };
        let check = retry::budget_holds(&promised, &budget, "bank", Noise::default());
        let all = [
            (Keeps::Rightly, "kept"),
            (Keeps::None, "none"),
            (Keeps::TwiceAsMuch, "wide"),
            (Keeps::EmptyFromTheStart, "starved"),
        ];
        for (keeps, word) in all {
            reads(&check.judge(&spend(budget, keeps)), &format!("budget-{model}-{word}"));
        }
    }
}

/// Proves what R5 tells: the waits at the cap, retry by retry, and what ended the payments.
#[test]
fn pages_of_the_cap() {
    let full = || Service::new(&RetryPolicy { deadline: None, ..policy() }, CapCheck::default());
    let check = |s: &Service| -> Check { retry::cap_holds(&s.promised, &s.check, "bank", Noise::default()) };
    let few = CapCheck { attempts: 9, ..CapCheck::default() };
    let hurried = CapCheck { attempts: 75, deadline: Some(Duration::from_secs(2)), ..CapCheck::default() };
    let all = [
        (full(), "cap-kept"),
        (full().waiting(Waits::SwallowingTheJitter), "cap-jitter"),
        (full().waiting(Waits::InAHotLoop), "cap-hot-loop"),
        (full().waiting(Waits::StartingOver), "cap-starting-over"),
        (full().waiting(Waits::WithoutACap), "cap-none"),
        (full().waiting(Waits::WithHalfTheCap), "cap-half"),
        (full().waiting(Waits::TwiceBeforeRetry(40)), "cap-once"),
        (full().ending(Ends::InAPanicAfter(33)), "cap-panic"),
        (full().ending(Ends::InSilenceAfter(33)), "cap-silence"),
        (Service { check: few, ..full() }, "cap-few"),
        (Service { check: hurried, deadline: 1.8, ..full() }, "cap-deadline"),
        (Service { patience: 2.0, ..full() }, "cap-patience"),
    ];
    for (service, name) in all {
        reads(&check(&service).judge(&service.play()), name);
    }
    let decorrelated = LawSpec::decorrelated(Duration::from_millis(200)).cap(Duration::from_secs(5)).build();
    let promised = RetryPolicy { backoff: decorrelated.expect("valid"), deadline: None, ..policy() };
    let decorrelated = || Service { noise: 0.001, ..Service::new(&promised, CapCheck::default()) };
    for (waits, name) in [(Waits::Rightly, "cap-decorrelated"), (Waits::Never, "cap-decorrelated-never")] {
        let service = decorrelated().waiting(waits);
        reads(&check(&service).judge(&service.play()), name);
    }
    reads(&check(&full()).judge(&noisy(&full().ending(Ends::InAPanicAfter(74)).play())), "cap-paused");
}

/// Proves what R15 tells: the attempts whose spans say something else, each with what its span says.
#[test]
fn pages_of_the_spans() {
    let check = retry::spans_tell_of_resends("bank");
    reads(&check.judge(&sound()), "spans-sound");
    reads(&check.judge(&one_span_for_two()), "spans-shared");
    let count = |rank: usize| vec![("http.request.resend_count", Some((rank + 1).into()))];
    reads(&check.judge(&tell(count)), "spans-count");
    reads(&check.judge(&tell(|_| vec![("error.type", None)])), "spans-error");
}
