//! The run: rounds in which the contenders take turns in a drawn order.

use std::collections::BTreeMap;

use serde_json::json;

use crate::args::{Options, Size};
use crate::contenders::{Contender, Id, World};
use crate::error::{BenchError, While};
use crate::measures::{Kind, MEASURES, Measure};
use crate::plan::Plan;
use crate::samples::Samples;
use crate::stats::Turns;
use crate::{envoy, machine, smoke, table};

pub(crate) fn run(options: &Options) -> Result<(), BenchError> {
    machine::raise_descriptor_limit();
    let plan = Plan::of(options);
    let world = World::open(options)?;
    let measures: Vec<&Measure> = MEASURES.iter().filter(|m| options.wants(m.name)).collect();
    let load_before = machine::load_average();
    let mut samples = Samples::default();
    let mut turns = Turns::new(options.seed);
    rounds(&measures, &world, &plan, &mut turns, &mut samples)?;
    for round in 0..plan.fresh_rounds {
        eprintln!("bench: fresh processes, round {} of {}", round + 1, plan.fresh_rounds);
        for measure in &measures {
            let Kind::Fresh(measured) = measure.kind else { continue };
            for id in order(measure, &world, &mut turns) {
                samples.add(id, measured(id, &world, &plan)?);
            }
        }
    }
    let head = header(options, &plan, &world, &load_before);
    println!("{head}");
    if options.size == Size::Smoke {
        smoke::check(&samples, &measures, &world)?;
        println!("a smoke run: every contender carried every measure, and the bytes were whole");
    } else {
        println!("{}", table::draw(&samples));
    }
    if let Some(path) = &options.json {
        let all = json!({ "header": head, "samples": samples.to_json() });
        std::fs::write(path, all.to_string()).during("writing the figures")?;
    }
    Ok(())
}

/// The interleaved rounds. The one before the first is not kept: it warms up caches, allocators and branch predictors.
fn rounds(
    measures: &[&Measure],
    world: &World,
    plan: &Plan,
    turns: &mut Turns,
    samples: &mut Samples,
) -> Result<(), BenchError> {
    let mut running = BTreeMap::new();
    for measure in measures.iter().filter(|m| matches!(m.kind, Kind::Running(_))) {
        for id in measure.who.iter().copied().filter(|id| world.has(*id)) {
            if let std::collections::btree_map::Entry::Vacant(place) = running.entry(id) {
                place.insert(Contender::start(id, world)?);
            }
        }
    }
    for round in 0..=plan.rounds {
        eprintln!("bench: round {round} of {}, load {}", plan.rounds, machine::load_average());
        for measure in measures {
            let Kind::Running(measured) = measure.kind else { continue };
            for id in order(measure, world, turns) {
                let figures = measured(&running[&id], plan)?;
                if round > 0 {
                    samples.add(id, figures);
                }
            }
        }
    }
    Ok(())
}

/// The contenders of a measure that are there, in a drawn order.
fn order(measure: &Measure, world: &World, turns: &mut Turns) -> Vec<Id> {
    let mut ids: Vec<Id> = measure.who.iter().copied().filter(|id| world.has(*id)).collect();
    turns.shuffle(&mut ids);
    ids
}

fn header(options: &Options, plan: &Plan, world: &World, load_before: &str) -> String {
    let envoy = world.envoy.as_deref().map_or_else(|| "not found".to_owned(), envoy::version);
    format!(
        "chaos-proxy {} ({} build), envoy {envoy}, kernel {}, {} cores, {} rounds (+ 1 to warm up), seed {}\n\
         load average before {load_before}, after {}\n",
        env!("CARGO_PKG_VERSION"),
        if cfg!(debug_assertions) { "debug" } else { "release" },
        machine::kernel(),
        machine::cores(),
        plan.rounds,
        options.seed,
        machine::load_average(),
    )
}
