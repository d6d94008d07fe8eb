//! The reference stack of `compose.yaml`: brought up, verified by the placement `attach`, and taken down whatever came out.

use crate::Failure;
use crate::images;
use crate::step::{Step, output};

/// Its containers and its network are named after it.
const PROJECT: &str = "harness-stack";
/// Builds PostgreSQL instead of having it pulled.
const FROM_DEBIAN: &str = "--postgres-from-debian";

/// Builds the players' images, starts the stack, verifies the reference contract against it and removes it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let from_debian = from_debian(arguments)?;
    let compose = compose()?;
    let images: &[&str] = if from_debian { &[FROM_DEBIAN] } else { &[] };
    images::run(&images.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())?;
    let stack = |words: &[&str]| {
        let (program, first) = compose;
        let arguments: Vec<&str> = first.iter().chain(&["-p", PROJECT]).chain(words).copied().collect();
        let step = Step::program("stack", program, &arguments);
        if from_debian { step.env("HARNESS_POSTGRES_IMAGE", "harness/postgres:local") } else { step }
    };
    let verified = stack(&["up", "-d"]).run().and_then(|()| verify().run());
    if verified.is_err() {
        // What the service said of itself is all that is left of it in a moment; the first failure is the one to report.
        let _shown = stack(&["logs", "--tail", "20"]).run();
    }
    let removed = stack(&["down", "--volumes"]).run();
    verified.and(removed)
}

/// The reference contract against the stack that its table `[attach]` names.
fn verify() -> Step {
    let arguments = ["run", "-p", "harness-cli", "--", "verify", "fixtures/payments/contract.toml"];
    Step::cargo("attach", &arguments).env("HARNESS_RIG", "attach")
}

fn from_debian(arguments: &[String]) -> Result<bool, Failure> {
    match arguments {
        [] => Ok(false),
        [flag] if flag == FROM_DEBIAN => Ok(true),
        _ => Err(Failure::Usage(format!("cannot use {}; the option is {FROM_DEBIAN}", arguments.join(" ")))),
    }
}

/// How Compose is called here: version 2 is part of the client, version 1 a program of its own.
fn compose() -> Result<(&'static str, &'static [&'static str]), Failure> {
    let known: [(&str, &[&str]); 2] = [("docker", &["compose"]), ("docker-compose", &[])];
    let answers = |(program, first): &(&str, &[&str])| output(*program, &[*first, &["version"]].concat()).is_ok();
    known.into_iter().find(answers).ok_or_else(|| {
        Failure::Tool(
            "`cargo ci stack` needs a Docker engine and Compose: `docker compose` or docker-compose".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves the one option, and that nothing unknown is passed over.
    #[test]
    fn options_are_read_strictly() {
        let asked = |line: &str| from_debian(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!((asked(""), asked("--postgres-from-debian")), (Ok(false), Ok(true)));
        for wrong in ["--postgres", "up", "--postgres-from-debian --postgres-from-debian"] {
            assert!(matches!(asked(wrong), Err(Failure::Usage(_))), "{wrong}");
        }
    }

    /// Proves that the stack is verified in the placement that it is for.
    #[test]
    fn the_stack_is_attached_to() {
        assert!(verify().line().starts_with("HARNESS_RIG=attach cargo run"), "{}", verify().line());
    }
}
