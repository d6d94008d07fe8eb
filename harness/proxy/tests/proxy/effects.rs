//! Effects that change an exchange rather than end it: copies, slow delivery, changed heads, and answers that are not
//! whole, as bytes at both ends and as the event that was recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use crate::kit::{Client, Ended, PATIENCE, REPLY, Upstream, attempts, post, proxy, soon};
use chaos_proxy::{Effect, Fault, Malformed, Part, Patch, Phase, RetryAfter, Rule, Schedule, Trickle};
use evidence::{Attempt, End};
use tokio::io::AsyncReadExt;

/// One request under `fault`: all that the client got, how its connection ended, what the bank got, and the record.
async fn under(fault: Fault, reply: &str) -> (String, Ended, Vec<String>, Attempt) {
    let upstream = Upstream::replying(reply).await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("rule", fault.clone())).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "hello").replace("host: bank", "host: bank\r\nconnection: close")).await;
    let (text, end) = client.rest().await;
    proxy.settle(PATIENCE).await.expect("settled");
    let mut found = attempts(&proxy.log());
    assert_eq!((found.len(), armed.fired()), (1, 1), "{}", fault.what());
    let attempt = found.remove(0);
    assert_eq!(attempt.fault.as_ref().map(|f| f.what.clone()), Some(fault.what()));
    (text, end, upstream.seen(), attempt)
}

// Proves that a request is delivered so many times more, byte for byte the same, that the client gets one answer, and
// that each delivery is on the one record of the one attempt.
#[tokio::test]
async fn copies_reach_the_bank_and_not_the_client() {
    for phase in [Phase::Request, Phase::Forwarded] {
        for (times, after_ms) in [(1, 0.0), (3, 1.0)] {
            let fault = Fault::at(phase, Effect::Duplicate { times, after_ms });
            let (text, end, seen, attempt) = under(fault, REPLY).await;
            assert_eq!((text.as_str(), end, attempt.reply.end), (REPLY, Ended::Fin, End::Replied), "{phase:?}");
            assert_eq!(seen.len(), 1 + times as usize, "{phase:?}");
            assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 1, "the same request: {seen:?}");
            let copies = &attempt.upstream.copies;
            assert_eq!((copies.len(), attempt.upstream.status), (times as usize, Some(201)));
            for copy in copies {
                assert_eq!((copy.status, copy.error.as_deref()), (Some(201), None), "{copy:?}");
                assert!(copy.sent.is_some() && copy.sent <= copy.answered, "{copy:?}");
                assert!(phase == Phase::Request || copy.sent >= attempt.upstream.sent, "{attempt:?}");
            }
        }
    }
}

// Proves that the connection of a duplicated call carries the next call, and that a copy counts neither as an attempt
// nor as an arrival.
#[tokio::test]
async fn copies_are_no_attempts() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("twice", Fault::at(Phase::Request, Effect::duplicate())).uses(1)).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    for key in ["a", "b"] {
        client.send(post(key, "x")).await;
        assert_eq!(client.reply().await, REPLY);
    }
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!((armed.fired(), proxy.arrivals("bank").expect("link"), upstream.seen().len()), (1, 2, 3));
    let log = attempts(&proxy.log());
    let copies: BTreeMap<_, _> = log.iter().map(|a| (a.key.as_deref(), a.upstream.copies.len())).collect();
    assert_eq!(copies, BTreeMap::from([(Some("a"), 1), (Some("b"), 0)]));
}

// Proves that a copy that cannot be delivered says why, and that the record is written once all the same.
#[tokio::test]
async fn a_copy_without_a_bank_says_why() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let copy = Effect::Duplicate { times: 1, after_ms: 200.0 };
    let _armed = proxy.arm(Rule::new("late", Fault::at(Phase::Forwarded, copy))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "x")).await;
    assert_eq!(client.reply().await, REPLY);
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port nobody uses");
    proxy.set_upstream("bank", free).expect("moved");
    proxy.settle(PATIENCE).await.expect("settled");
    let attempt = attempts(&proxy.log()).remove(0);
    let copy = &attempt.upstream.copies[0];
    assert!(copy.sent.is_none() && copy.error.as_ref().is_some_and(|e| e.contains("dial")), "{copy:?}");
}

// Proves that slow delivery changes no byte, waits between pieces as often as there are gaps, and measures the waits.
#[tokio::test]
async fn trickles_change_no_byte() {
    let (head, body) = (REPLY.len() as u64 - 10, 10_u64);
    let gaps = |bytes: u64| bytes.div_ceil(7);
    for phase in [Phase::ResponseHead, Phase::Response] {
        for (part, pieces) in [(Part::Head, gaps(head)), (Part::Body, gaps(body)), (Part::All, gaps(head) + gaps(body))]
        {
            let fault = Fault::at(phase, Effect::Trickle(Trickle { bytes: 7, every_ms: 0.25, part }));
            let (text, _, _, attempt) = under(fault, REPLY).await;
            assert_eq!((text.as_str(), attempt.reply.end, attempt.reply.status), (REPLY, End::Replied, Some(201)));
            let struck = attempt.fault.clone().expect("struck");
            // The body may come from the bank in several reads, each of which begins a piece.
            assert!(struck.delay_requested_ns >= Some((pieces - 1) * 250_000), "{phase:?} {part:?}: {struck:?}");
            assert!(struck.delay_injected_ns >= struck.delay_requested_ns, "{struck:?}");
            let spread = attempt.reply.ended.since(attempt.reply.first_byte.expect("first"));
            let waits = if part == Part::Body { pieces - 2 } else { pieces - 1 };
            assert!(spread >= Duration::from_micros(waits * 250), "{phase:?} {part:?}: {spread:?}");
        }
    }
}

// Proves that a slow request reaches the bank whole and late, and that a client which leaves in its middle takes it
// back.
#[tokio::test]
async fn requests_trickle_to_the_bank() {
    let trickle =
        |every_ms| Fault::at(Phase::Request, Effect::Trickle(Trickle { bytes: 16, every_ms, part: Part::All }));
    let (text, _, seen, attempt) = under(trickle(0.25), REPLY).await;
    assert_eq!((text.as_str(), seen.len(), attempt.upstream.status), (REPLY, 1, Some(201)));
    assert!(seen[0].ends_with("\r\n\r\nhello"));
    let gaps = (seen[0].len() - 5).div_ceil(16) as u64;
    assert_eq!(attempt.fault.expect("struck").delay_requested_ns, Some(gaps * 250_000));

    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("slow", trickle(3_600_000.0))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "hello")).await;
    armed.wait_fired(1, PATIENCE).await.expect("fired");
    drop(client);
    proxy.settle(PATIENCE).await.expect("settled");
    let attempt = attempts(&proxy.log()).remove(0);
    assert_eq!((attempt.reply.end, attempt.upstream.sent, upstream.seen().len()), (End::ClientLeft, None, 0));
}

// Proves that a client that leaves in the middle of a slow answer is seen, with what it got by then on record.
#[tokio::test]
async fn a_client_may_leave_a_slow_answer() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let effect = Effect::Trickle(Trickle { bytes: 1, every_ms: 3_600_000.0, part: Part::Head });
    let _armed = proxy.arm(Rule::new("slow", Fault::at(Phase::Response, effect))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "hello")).await;
    let mut first = [0; 1];
    soon(client.0.read_exact(&mut first)).await.expect("the first byte");
    assert_eq!(&first, b"H");
    drop(client);
    proxy.settle(PATIENCE).await.expect("settled");
    let attempt = attempts(&proxy.log()).remove(0);
    assert_eq!((attempt.reply.end, attempt.upstream.status), (End::ClientLeft, Some(201)));
    assert!(attempt.reply.first_byte.is_some());
}

/// What the client gets under each kind, when the answer is `head` and `body`.
fn spoiled(kind: Malformed, text: &str, status: &str, body: &str) {
    let half = body.len() / 2;
    let (head, rest) = text.split_once("\r\n\r\n").unwrap_or(("", text));
    match kind {
        Malformed::Empty => assert_eq!(text, ""),
        Malformed::RandomDataThenClose => assert!(text.len() > 32 && !text.contains("HTTP"), "{text:?}"),
        Malformed::GarbageHead => {
            // No status that a client could take for an answer.
            assert!(text.starts_with("HTTP/1.1 ") && !text.starts_with(status) && !text.contains(':'), "{text:?}");
        }
        Malformed::BadChunk => {
            let first = format!("{half:x}\r\n{}\r\nno size\r\n", &body[..half]);
            assert!(head.starts_with(status) && head.ends_with("\r\ntransfer-encoding: chunked"), "{text:?}");
            assert!(rest.starts_with(&first), "{text:?}");
        }
        Malformed::TruncatedBody => {
            assert!(head.starts_with(status) && head.ends_with(&format!("content-length: {}", body.len())), "{text:?}");
            assert_eq!(rest, &body[..half]);
        }
        Malformed::WrongLength => {
            assert!(head.starts_with(status) && head.ends_with(&format!("content-length: {half}")), "{text:?}");
            assert_eq!(rest, body);
        }
    }
}

// Proves each kind of malformed answer byte by byte, made up where the bank was not asked, and made of the bank's own
// answer behind it; the bank's status stays on record.
#[tokio::test]
async fn answers_are_malformed() {
    let chunked = "HTTP/1.1 201 Created\r\nx-bank: yes\r\ntransfer-encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n";
    for kind in Malformed::ALL {
        let effect = Effect::Malformed { kind };
        let readable = matches!(kind, Malformed::BadChunk | Malformed::TruncatedBody | Malformed::WrongLength);
        for (phase, asked) in [(Phase::Request, 0), (Phase::Forwarded, 1)] {
            let (text, end, seen, attempt) = under(Fault::at(phase, effect.clone()), REPLY).await;
            spoiled(kind, &text, "HTTP/1.1 200 OK\r\n", r#"{"result":"this body is whole"}"#);
            assert_eq!((end, seen.len(), attempt.reply.end), (Ended::Fin, asked, End::Cut), "{kind:?}");
            assert_eq!(attempt.reply.status, readable.then_some(200));
        }
        for reply in [REPLY, chunked] {
            let (text, end, seen, attempt) = under(Fault::at(Phase::Response, effect.clone()), reply).await;
            spoiled(kind, &text, "HTTP/1.1 201 Created\r\n", "0123456789");
            assert_eq!((end, seen.len(), attempt.reply.end), (Ended::Fin, 1, End::Cut), "{kind:?}");
            assert_eq!((attempt.upstream.status, attempt.reply.status), (Some(201), readable.then_some(201)));
            assert!(!readable || text.contains("x-bank: yes\r\n"), "{text:?}");
        }
    }
}

// Proves that meaningless bytes come from the seed: the same call gets the same, another call others.
#[tokio::test]
async fn noise_is_drawn_from_the_seed() {
    let fault = Fault::at(Phase::Request, Effect::Malformed { kind: Malformed::RandomDataThenClose });
    let upstream = Upstream::start().await;
    let mut bytes = Vec::new();
    for key in ["a", "a", "b"] {
        let proxy = proxy(upstream.addr).await;
        let _armed = proxy.arm(Rule::new("noise", fault.clone())).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post(key, "")).await;
        let mut got = Vec::new();
        soon(client.0.read_to_end(&mut got)).await.expect("FIN");
        bytes.push(got);
    }
    assert_eq!(bytes[0], bytes[1]);
    assert_ne!(bytes[0], bytes[2]);
}

// Proves that a patched answer differs in what the patch names and in nothing else, that its body is whole, that the
// bank's own status is on record beside the client's, and that the connection carries the next call.
#[tokio::test]
async fn answers_are_patched() {
    let set = BTreeMap::from([("X-Bank".to_owned(), "no".to_owned())]);
    let patch = Patch { status: Some(503), set, retry_after: Some(RetryAfter::Seconds(7)), ..Patch::default() };
    for phase in [Phase::ResponseHead, Phase::Response] {
        let upstream = Upstream::start().await;
        let proxy = proxy(upstream.addr).await;
        let rule = Rule::new("patch", Fault::at(phase, Effect::PatchResponse(patch.clone()))).uses(1);
        let _armed = proxy.arm(rule).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("a", "x")).await;
        let expected = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 10\r\nRetry-After: 7\r\nX-Bank: no\r\n\r\n";
        assert_eq!(client.reply().await, format!("{expected}0123456789"), "{phase:?}");
        client.send(post("b", "y")).await;
        assert_eq!(client.reply().await, REPLY);
        proxy.settle(PATIENCE).await.expect("settled");
        let attempt = attempts(&proxy.log()).remove(0);
        assert_eq!(
            (attempt.upstream.status, attempt.reply.status, attempt.reply.end),
            (Some(201), Some(503), End::Replied)
        );
        assert_eq!(attempt.reply.retry_after.as_deref(), Some("7"));
    }
}

// Proves Retry-After in every form, in the reply and in the record; a date lies as far ahead of the strike as asked.
#[tokio::test]
async fn retry_after_comes_in_every_form() {
    for (form, expected) in [
        (RetryAfter::Seconds(2), "2"),
        (RetryAfter::Seconds(0), "0"),
        (RetryAfter::Seconds(-5), "-5"),
        (RetryAfter::Seconds(99_999_999_999), "99999999999"),
        (RetryAfter::Text("soon".to_owned()), "soon"),
        (RetryAfter::Text(String::new()), ""),
    ] {
        let (text, _, _, attempt) = under(Fault::at(Phase::Request, Effect::retry_after(429, form)), REPLY).await;
        assert!(text.contains(&format!("\r\nRetry-After: {expected}\r\n")), "{text:?}");
        assert_eq!(attempt.reply.retry_after.as_deref(), Some(expected));
    }
    for seconds in [3, -3] {
        let before = SystemTime::now();
        let effect = Effect::retry_after(503, RetryAfter::HttpDateInS(seconds));
        let (_, _, _, attempt) = under(Fault::at(Phase::Request, effect), REPLY).await;
        let after = SystemTime::now();
        let date = httpdate::parse_http_date(&attempt.reply.retry_after.expect("field")).expect("a date");
        let shifted = |t: SystemTime| {
            let span = Duration::from_secs(3);
            if seconds > 0 { t + span } else { t - span }
        };
        // The format has whole seconds, rounded down.
        assert!(date + Duration::from_secs(1) > shifted(before) && date <= shifted(after), "{date:?}");
    }
}

// Proves that the new effects take their turn in a sequence like every other.
#[tokio::test]
async fn effects_follow_each_other_in_a_sequence() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let steps = [
        Fault::at(Phase::Request, Effect::retry_after(503, RetryAfter::Seconds(1))),
        Fault::at(Phase::Request, Effect::duplicate()),
        Fault::at(Phase::Response, Effect::Malformed { kind: Malformed::Empty }),
    ];
    let armed = proxy.arm(Rule::sequence("script", steps.map(Into::into))).expect("arm");
    assert!(matches!(armed.rule().schedule, Schedule::Sequence { .. }));
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "")).await;
    assert!(client.reply().await.contains("Retry-After: 1\r\n"));
    client.send(post("k", "")).await;
    assert_eq!(client.reply().await, REPLY);
    client.send(post("k", "")).await;
    assert_eq!(client.rest().await, (String::new(), Ended::Fin));
    proxy.settle(PATIENCE).await.expect("settled");
    let what: Vec<_> = attempts(&proxy.log()).into_iter().filter_map(|a| a.fault).map(|f| f.what).collect();
    assert_eq!(what, ["request/reply 503", "request/duplicate", "response/malformed empty"]);
    assert_eq!(upstream.seen().len(), 3);
}
