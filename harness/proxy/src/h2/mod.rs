//! HTTP/2 links.

mod grpc;

pub(crate) use grpc::grpc_fields;
