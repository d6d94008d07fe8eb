//! When spans are complete: a condition that is driven export by export, without a sleep.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use harness::collector::{Collector, SettleRule, Settled, code};
use judge::evidence::TraceContext;
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind};
use tokio::time::Instant;

use crate::kit::*;

/// Far away, so that only the condition can end the wait.
const NEVER: Duration = Duration::from_secs(3_600);

fn at_once(expect: impl IntoIterator<Item = TraceContext>) -> SettleRule {
    SettleRule::new(expect).quiet(Duration::ZERO).deadline(NEVER)
}

/// Whether the wait is over, after one look at it.
async fn look(wait: &mut Pin<&mut impl Future<Output = Settled>>) -> Option<Settled> {
    poll_fn(|cx| match wait.as_mut().poll(cx) {
        Poll::Ready(settled) => Poll::Ready(Some(settled)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Exports the spans one by one. The wait must not end before the last one, and must end with it.
async fn settles_with_the_last(collector: &Collector, expect: &[TraceContext], spans: Vec<Span>) {
    let rule = at_once(expect.iter().copied());
    let mut wait = pin!(collector.settle(&rule));
    assert_eq!(look(&mut wait).await, None, "nothing has come yet");
    let last = spans.len() - 1;
    for (n, span) in spans.into_iter().enumerate() {
        let name = span.name.clone();
        // The answer comes when the span is in the store.
        export(collector, vec![span]).await;
        let settled = look(&mut wait).await;
        assert_eq!(settled.is_some(), n == last, "after {name}: {settled:?}");
        if let Some(settled) = settled {
            assert!(settled.complete && settled.missing.is_empty(), "{settled:?}");
        }
    }
}

/// A request is complete with its SERVER span and the parent of everything below it, in whatever order they come.
#[tokio::test]
async fn a_trace_is_complete_with_its_entry_and_every_parent() {
    let collector = start().await;
    let spans = vec![
        span(1, 12, Some(11), SpanKind::Client),
        span(1, 10, Some(99), SpanKind::Server),
        span(1, 11, Some(10), SpanKind::Internal),
    ];
    settles_with_the_last(&collector, &[context(1, 99)], spans).await;
}

/// Every expected trace counts, spans of other traces do not.
#[tokio::test]
async fn every_expected_trace_counts() {
    let collector = start().await;
    let spans = vec![
        span(7, 1, Some(98), SpanKind::Server),
        span(1, 1, Some(98), SpanKind::Server),
        span(3, 1, Some(99), SpanKind::Server),
        span(2, 1, Some(99), SpanKind::Server),
    ];
    settles_with_the_last(&collector, &[context(1, 98), context(2, 99), context(3, 99)], spans).await;
}

/// Two requests in one trace (a replay of a key under the same trace) need two entry spans.
#[tokio::test]
async fn two_requests_in_one_trace_need_two_entries() {
    let collector = start().await;
    let spans = vec![
        span(1, 1, Some(98), SpanKind::Server),
        span(1, 2, Some(1), SpanKind::Client),
        span(1, 3, Some(99), SpanKind::Server),
    ];
    settles_with_the_last(&collector, &[context(1, 98), context(1, 99)], spans).await;
}

/// An entry need not be a SERVER span: one without a parent, a child of the sent context, and one whose parent is
/// flagged remote are entries too. A span with a local parent that never comes is not.
#[tokio::test]
async fn what_counts_as_an_entry() {
    let mut remote = span(1, 1, Some(55), SpanKind::Internal);
    remote.flags = 0x301;
    let entries = [
        span(1, 1, None, SpanKind::Internal),
        span(1, 1, Some(99), SpanKind::Internal),
        span(1, 1, Some(55), SpanKind::Consumer),
        remote,
    ];
    for entry in entries {
        let collector = start().await;
        settles_with_the_last(&collector, &[context(1, 99)], vec![entry]).await;
    }
    let mut local = span(1, 1, Some(55), SpanKind::Internal);
    local.flags = 0x101;
    let collector = start().await;
    export(&collector, vec![local]).await;
    let rule = at_once([context(1, 99)]);
    assert_eq!(look(&mut pin!(collector.settle(&rule))).await, None);
}

/// A trace that was complete and gets a child whose parent is not there is not complete any more.
#[tokio::test]
async fn a_late_orphan_reopens_its_trace() {
    let collector = start().await;
    export(&collector, vec![span(1, 1, Some(99), SpanKind::Server), span(1, 3, Some(2), SpanKind::Client)]).await;
    let rule = at_once([context(1, 99)]);
    let mut wait = pin!(collector.settle(&rule));
    assert_eq!(look(&mut wait).await, None);
    export(&collector, vec![span(1, 2, Some(1), SpanKind::Internal), span(1, 5, Some(4), SpanKind::Client)]).await;
    assert_eq!(look(&mut wait).await, None, "the new child's parent is not there");
    export(&collector, vec![span(1, 4, Some(1), SpanKind::Internal)]).await;
    assert!(look(&mut wait).await.is_some_and(|s| s.complete));
}

/// The quiet time is kept from the last new span on: the wait cannot be shorter than it. Only the lower bound is
/// asserted, which a busy machine cannot break. A duplicate does not begin it again, nor does a trace nobody expects.
#[tokio::test]
async fn the_quiet_time_is_kept() {
    let quiet = Duration::from_millis(80);
    let collector = start().await;
    let before = Instant::now();
    export(&collector, vec![span(1, 1, Some(99), SpanKind::Server)]).await;
    let rule = SettleRule::new([context(1, 99)]).quiet(quiet).deadline(NEVER);
    let settled = collector.settle(&rule).await;
    assert!(settled.complete && before.elapsed() >= quiet, "{settled:?}");
    export(&collector, vec![span(1, 1, Some(99), SpanKind::Server), span(2, 1, Some(99), SpanKind::Server)]).await;
    assert!(look(&mut pin!(collector.settle(&rule))).await.is_some_and(|s| s.complete), "quiet since the first");
}

/// At the deadline the wait ends and says which traces are missing and what they lack; the note is there for the evidence
/// and spoils nothing by itself.
#[tokio::test]
async fn the_deadline_names_what_is_missing() {
    let collector = start().await;
    let spans = vec![
        span(1, 1, Some(99), SpanKind::Server),
        span(2, 1, Some(99), SpanKind::Server),
        span(2, 3, Some(2), SpanKind::Client),
    ];
    export(&collector, spans).await;
    let expect = [context(3, 99), context(1, 99), context(2, 99)];
    let settled = collector.settle(&at_once(expect).deadline(Duration::from_millis(1))).await;
    assert!(!settled.complete);
    assert_eq!(settled.missing, [context(2, 99).trace, context(3, 99).trace]);
    let text = note(&collector, code::MISSING).expect("it is noted");
    for part in ["2 traces", "0000000000000002 of `span 3`", "0 of 1 entry spans", "OTEL_BSP_SCHEDULE_DELAY"] {
        assert!(text.contains(part), "`{part}` in {text}");
    }
    assert!(collector.notes().iter().all(|n| n.weight == judge::evidence::NoteWeight::Info));
}

/// With nothing expected there is nothing to wait for.
#[tokio::test]
async fn nothing_expected_is_complete_at_once() {
    let collector = start().await;
    assert!(look(&mut pin!(collector.settle(&SettleRule::new([])))).await.is_some_and(|s| s.complete));
}
