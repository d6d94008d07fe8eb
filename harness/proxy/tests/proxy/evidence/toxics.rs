//! When which toxic was on a link, for a reader of the log.

use chaos_proxy::{Direction, LinkConfig, Toxic, ToxicError, ToxicKind};

use super::Stage;

// Proves that a toxic leaves its edges in the log: when it came, changed and went, with what it was each time; and that
// toxics which a link was added with, and those it is removed with, leave theirs too.
#[tokio::test]
async fn toxics_leave_edges() {
    let stage = Stage::start().await;
    let toxic = |ms| Toxic::new(ToxicKind::Latency { latency: ms, jitter: 0 }, Direction::Downstream);
    let link = LinkConfig { toxics: vec![toxic(5).named("first")], ..LinkConfig::tcp("raw") };
    stage.proxy.add_link(link).await.expect("link");
    let board = stage.proxy.toxics("raw").expect("board");
    board.add(toxic(10)).expect("add");
    let changed = board.update::<ToxicError>("latency_downstream", |toxic| {
        toxic.kind = ToxicKind::Latency { latency: 20, jitter: 1 };
        Ok(())
    });
    let epoch = changed.expect("update").epoch;
    board.remove("latency_downstream").expect("remove");
    stage.proxy.remove_link("raw").await.expect("removed");
    let (_, page) = stage.get("/v1/events?kind=edge&link=raw").await;
    let edges: Vec<_> = page["records"].as_array().expect("records").iter().map(|r| &r["edge"]).collect();
    let said: Vec<_> = edges.iter().map(|e| (e["rule"].as_str(), e["change"].as_str())).collect();
    let (first, second) = (Some("first"), Some("latency_downstream"));
    let (armed, changed, disarmed) = (Some("armed"), Some("changed"), Some("disarmed"));
    assert_eq!(said, [(first, armed), (second, armed), (second, changed), (second, disarmed), (first, disarmed)]);
    assert_eq!((edges[2]["epoch"].as_u64(), &edges[2]["since"]), (Some(epoch), &edges[1]["at"]));
    assert_eq!(edges[3]["since"], edges[1]["at"], "its window is in the last edge");
    let what = edges[2]["what"].as_str().expect("what");
    assert!(what.starts_with("downstream/latency {") && what.contains("\"latency\":20"), "{what}");
}
