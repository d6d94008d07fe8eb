//! The catalogue and the registry are one.

use std::collections::BTreeMap;

use judge::Ruling;
use judge::checks::CATALOGUE;
use judge::evidence::Evidence;

use crate::clean::added;
use crate::scene::{PLAYED, SCENES, Scene, Steps};

/// Checks of the run itself never accuse a service: what they find wrong makes a verdict impossible.
const ACCUSES_NOBODY: [&str; 2] = ["H1", "H2"];

/// Checks whose witness are the two books: what the wire shows is not what they judge.
pub const BY_THE_BOOKS: [&str; 2] = ["I1", "G4"];

/// Checks over which more clean evidence of the very steps that they read has a say, and why it should. The clean evidence
/// of their scenes is of other steps; [`more_of_the_same_has_a_say`] shows that each is rightly here.
const DILUTED: [(&str, &str); 9] = [
    ("R2", "a law is judged by a sample: waits that are rightly drawn make those that are not a smaller share of it"),
    ("R3", "a window is judged against the size of the herd: more clients make the same peak a smaller one"),
    ("R4", "waits that return are looked for among all of both starts; new payments of a start are partners of nobody"),
    ("R5", "as for R2, at the cap"),
    ("R10", "a budget is one for all: a second run of the scenario, full at its begin, is a second budget"),
    ("S2", "one disturbance is judged: a second one, and the recovery from it, lie after what is compared"),
    ("S3", "an even load is judged by its rate: a pause between two loads is no load"),
    ("H5", "a control is to be found out: where it passed, more evidence of a storm finds it out"),
    ("H6", "a number that another check counts is judged, and that number goes with what there is to count"),
];

/// Proves that no exemption from the rule that clean evidence acquits nobody outlives its reason: for each check in the
/// list the sound evidence of its scene, added in the same steps, turns a failure into something else or a pass into a
/// failure.
#[test]
fn more_of_the_same_has_a_say() {
    for (id, why) in DILUTED {
        let played = PLAYED.iter().filter(|(scene, ..)| scene.checks.iter().any(|c| c.info().id == id));
        let has_a_say = |scene: &Scene, base: &Evidence| {
            let check = scene.checks.iter().find(|c| c.info().id == id).expect("filtered");
            let before = check.judge(base).ruling;
            let mut more = base.clone();
            (1..=8).any(|nth| {
                more = added(&more, &scene.sound, nth, Steps::Same);
                let after = check.judge(&more).ruling;
                before != after && (before == Ruling::Fail || after == Ruling::Fail)
            })
        };
        assert!(played.clone().any(|(scene, _, base)| has_a_say(scene, base)), "{id}: {why}");
    }
}

/// Proves that no check escapes the attack: each one of the catalogue passes sound evidence of some scene and rules
/// against broken evidence of some scene, so that the properties have something to hold.
#[test]
fn every_check_of_the_catalogue_is_under_attack() {
    let mut seen: BTreeMap<&str, (bool, Ruling)> = BTreeMap::new();
    for scene in SCENES.iter() {
        for check in &scene.checks {
            let (passes, worst) = seen.entry(check.info().id).or_insert((false, Ruling::Pass));
            *passes |= check.judge(&scene.sound).ruling == Ruling::Pass;
            let broken = scene.broken.iter().map(|(_, evidence)| check.judge(evidence).ruling);
            *worst = broken.fold(*worst, Ruling::max);
        }
    }
    let mut missing = Vec::new();
    for info in CATALOGUE {
        let needed = if ACCUSES_NOBODY.contains(&info.id) { Ruling::Inconclusive } else { Ruling::Fail };
        match seen.get(info.id) {
            None => missing.push(format!("{} {} has no scene in tests/attack", info.id, info.name)),
            Some((false, _)) => missing.push(format!("{} passes no sound evidence", info.id)),
            Some((_, worst)) if *worst != needed => missing.push(format!("{}: worst ruling {worst:?}", info.id)),
            Some(_) => {}
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Proves that the sound evidence of each scene is clean: none of its checks rules against it.
#[test]
fn sound_scenes_pass() {
    for scene in SCENES.iter() {
        for check in &scene.checks {
            let finding = check.judge(&scene.sound);
            assert_eq!(finding.ruling, Ruling::Pass, "{}: {finding:#?}", scene.name);
        }
    }
}
