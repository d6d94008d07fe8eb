//! The simulated services of the suite `checks_promises`, for the scenes of keys and of degraded answers.

#[path = "../checks_promises/degraded_service.rs"]
pub mod degraded_service;
#[expect(dead_code, reason = "the other suite has a short name for what a scene says in full")]
#[path = "../checks_promises/scenarios.rs"]
pub mod scenarios;
#[path = "../checks_promises/service.rs"]
pub mod service;
#[path = "../checks_promises/stage.rs"]
mod stage;
