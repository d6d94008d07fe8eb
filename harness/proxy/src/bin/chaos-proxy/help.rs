//! What `--help` prints.

use crate::args::Role;

/// The text for a role.
pub(crate) fn text(role: Role) -> &'static str {
    match role {
        Role::ChaosProxy => CHAOS_PROXY,
        Role::Toxiproxy => TOXIPROXY,
    }
}

const CHAOS_PROXY: &str = "\
chaos-proxy: makes faults at exact moments of an exchange, and records every attempt

Examples
  Put a proxy between a service and its bank, and look at every attempt in events.ndjson:
    chaos-proxy --link 'bank=127.0.0.1:7000->127.0.0.1:9000' --events events.ndjson

  The bank books the first charge of every key, and its answer is lost (rules.json):
    [{ \"id\": \"lost\", \"schedule\": { \"fail_first\": { \"n\": 1 } },
       \"fault\": { \"at\": \"response\", \"effect\": \"reset\" } }]
    chaos-proxy --link 'bank=127.0.0.1:7000->127.0.0.1:9000' --rules rules.json

  In place of Toxiproxy, with its clients, its configuration file and its command line tool:
    chaos-proxy --host 0.0.0.0 --port 8474 --config toxiproxy.json
    curl -d '{\"name\":\"db\",\"listen\":\"127.0.0.1:7001\",\"upstream\":\"127.0.0.1:5432\"}' localhost:8474/proxies
    curl -d '{\"type\":\"latency\",\"attributes\":{\"latency\":100}}' localhost:8474/proxies/db/toxics
    chaos-proxy cli list

Usage: chaos-proxy [--link 'NAME=LISTEN->UPSTREAM']... [--port PORT] [options]
       chaos-proxy cli COMMAND...     as `toxiproxy-cli`; `chaos-proxy cli help` has its commands

Links (each flag may be repeated; without an API at least one)
  --link 'NAME=LISTEN->UPSTREAM'   an HTTP link, e.g. 'bank=127.0.0.1:0->127.0.0.1:9000'
  --tcp  'NAME=LISTEN->UPSTREAM'   a link that passes bytes
                                   Port 0 lets the kernel choose; the line `link NAME ...` on standard output says
                                   what it chose. Quote the arrow, or write a comma for it: > redirects in a shell.
                                   https:// before UPSTREAM speaks TLS with it (trusting the system's CAs), and before
                                   LISTEN with the clients (who have to trust the CA of --ca-out).

API (on when any of these is given; the line `api http://...` says where)
  --host HOST         listens there (default: localhost; in a container 0.0.0.0, or nobody outside reaches it)
  --port PORT         and on this port (default: 8474; 0 lets the kernel choose)
  --config FILE       creates the proxies of a Toxiproxy configuration file first
  --proxy-metrics     /metrics has the bytes of each proxy
  --runtime-metrics   /metrics has the figures of the process
  --toxiproxy-quirks  brings back what Toxiproxy does surprisingly (docs/toxiproxy.md lists it)

Options
  --rules FILE        arm the rules of this JSON file before the links are announced
  --events FILE       write the event log there, one JSON record a line; complete after SIGTERM or SIGINT
  --ca-out FILE       write the certificate (PEM) of the CA that signs for https:// listeners there
  --otlp URL          send faults as OpenTelemetry spans to this collector, e.g. http://127.0.0.1:4318; the variables
                      OTEL_EXPORTER_OTLP_* are read too
  --key-header NAME   header field with the idempotency key, of the links above and of those that calls of the API create
                      without naming one (default: Idempotency-Key)
  --seed N            seed of every random decision (default: 0)
  --log-limit N       records that may wait to be written before new ones are dropped (default: 250000)
  --log-bytes N       bytes of memory that they may take (default: 268435456)
  --help, --version

Flags may have one dash or two, and their value after a blank or after `=`. LOG_LEVEL=info (trace, debug, info, warn,
error) logs JSON lines on standard output. Called as `toxiproxy` it has the API always, called as `toxiproxy-cli` it is
the tool.

Exit codes: 0 ended by a signal; 1 a port, file or the log failed; 2 the command line or the rules are wrong.
";

const TOXIPROXY: &str = "\
toxiproxy: chaos-proxy in the place of Toxiproxy

Examples
  toxiproxy                                     an API on localhost:8474
  toxiproxy -host=0.0.0.0 -config=proxies.json  in a container, with proxies to begin with:
    [{ \"name\": \"db\", \"listen\": \"0.0.0.0:8666\", \"upstream\": \"db:5432\" }]
  toxiproxy-cli toxic add -t latency -a latency=100 db

Options
  -host HOST          listens there (default: localhost)
  -port PORT          and on this port (default: 8474; 0 lets the kernel choose)
  -config FILE        creates the proxies of this file first; when it is missing or wrong the log says so
  -seed N             seed of every random decision (default: 0)
  -proxy-metrics      /metrics has the bytes of each proxy
  -runtime-metrics    /metrics has the figures of the process
  -toxiproxy-quirks   brings back what Toxiproxy does surprisingly
  -version, -h

Everything of `chaos-proxy --help` works too. LOG_LEVEL (trace, debug, info, warn, error) says what is logged; unset, all.
";
