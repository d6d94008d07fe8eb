//! The catalogue and the registry are one.

use std::collections::BTreeMap;

use judge::Ruling;
use judge::checks::CATALOGUE;

use crate::scene::SCENES;

/// Checks of the run itself never accuse a service: what they find wrong makes a verdict impossible.
const ACCUSES_NOBODY: [&str; 2] = ["H1", "H2"];

/// Checks that have a simulated service in a suite of their own and no scene here yet. One that gets a scene leaves this
/// list, and nothing new may enter it.
const NO_SCENE_YET: [&str; 16] =
    ["R11", "B11", "I7", "I8", "I9", "I10", "T2", "G1", "G2", "G3", "G4", "S1", "S2", "S3", "H5", "H6"];

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
            None if NO_SCENE_YET.contains(&info.id) => {}
            Some(_) if NO_SCENE_YET.contains(&info.id) => {
                missing.push(format!("{} has a scene: strike it off", info.id))
            }
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
