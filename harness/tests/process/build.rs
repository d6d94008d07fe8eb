//! Build commands run once.

use std::time::Duration;

use harness::place::{Builder, PlaceError, Process, ProcessSpec};

use super::helper::{Scratch, read, script};

fn with_build(scratch: &Scratch, text: &str) -> ProcessSpec {
    let runs = scratch.path("runs").display().to_string();
    script("echo up; exec sleep 600").build(["/bin/sh", "-c", text, &runs])
}

// Proves that many scenarios which start at the same time build once, and none of them starts before the build is done.
// Bounded by the number of lines that the build leaves, and by what each child finds.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_starts_build_once() {
    let (scratch, builder) = (Scratch::new(), Builder::default());
    let mut spec = with_build(&scratch, "sleep 0.2; echo run >> \"$0\"");
    spec.command = vec!["/bin/sh".into(), "-c".into(), "cat \"$0\"; echo up; exec sleep 600".into()];
    spec.command.push(scratch.path("runs").display().to_string());
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let (spec, builder) = (spec.clone(), builder.clone());
            tokio::spawn(async move { Process::start(spec, &builder, None).await })
        })
        .collect();
    for start in starts {
        let child = start.await.expect("no panic").expect("it is up");
        assert_eq!(child.log().tail(10), ["run", "up"], "started before the build was done");
    }
    assert_eq!(read(&scratch.path("runs")), "run\n");
}

// Proves that a failed build is an error with its last lines, that it is remembered instead of run again, and that another
// builder tries anew.
#[tokio::test]
async fn a_failed_build_is_told_and_remembered() {
    let (scratch, builder) = (Scratch::new(), Builder::default());
    let spec = with_build(&scratch, "echo run >> \"$0\"; echo 'error[E0308]: mismatched types' >&2; exit 101");
    for _ in 0..3 {
        let error = builder.build(&spec).await.expect_err("it fails");
        assert!(matches!(error, PlaceError::BuildFailed { .. }));
        let text = error.to_string();
        assert!(text.contains("exit status: 101") && text.ends_with("| error[E0308]: mismatched types"), "{text}");
    }
    assert_eq!(read(&scratch.path("runs")), "run\n");
    Builder::default().build(&spec).await.expect_err("it fails");
    assert_eq!(read(&scratch.path("runs")), "run\nrun\n");
}

// Proves that a build which hangs is ended at its deadline.
#[tokio::test]
async fn a_build_that_hangs_is_ended() {
    let scratch = Scratch::new();
    let spec = with_build(&scratch, "echo compiling; sleep 600");
    let builder = Builder::default().deadline(Duration::from_millis(300));
    let text = builder.build(&spec).await.expect_err("it hangs").to_string();
    assert!(text.contains("was ended after its deadline") && text.contains("| compiling"), "{text}");
}
