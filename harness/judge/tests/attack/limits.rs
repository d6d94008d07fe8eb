//! The simulated services of the suite `checks_retry_limits`, for the scenes of retries and time limits.

#[path = "../checks_retry_limits/after_service.rs"]
pub mod after_service;
#[path = "../checks_retry_limits/budget_service.rs"]
pub mod budget_service;
#[path = "../checks_retry_limits/cap_service.rs"]
pub mod cap_service;
#[path = "../checks_retry_limits/deadline_service.rs"]
pub mod deadline_service;
#[path = "../checks_retry_limits/promise.rs"]
pub mod promise;
#[path = "../checks_retry_limits/pushback_service.rs"]
pub mod pushback_service;
#[path = "../checks_retry_limits/telemetry_service.rs"]
pub mod telemetry_service;
#[path = "../checks_retry_limits/timeout_service.rs"]
pub mod timeout_service;
#[expect(dead_code, reason = "no scene refuses a connection")]
#[path = "../checks_retry_limits/world.rs"]
pub mod world;
