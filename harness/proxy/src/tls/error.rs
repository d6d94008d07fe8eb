//! Why a link's TLS cannot be as it is configured.

/// Why a link's TLS cannot be as it is configured. The texts name the field below `tls`.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{field}: cannot read the file {path}: {source}")]
    File {
        /// The field.
        field: &'static str,
        /// The file.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// What is there is not the PEM that it should be.
    #[error("{field}: {reason}; give {wanted}, as PEM text or as the path of a PEM file")]
    Pem {
        /// The field.
        field: &'static str,
        /// What is wrong.
        reason: String,
        /// What would do.
        wanted: &'static str,
    },
    /// Certificate and key do not belong together, or cannot be used.
    #[error("{field}: certificate and key cannot be used together: {reason}")]
    Identity {
        /// The field.
        field: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A name is neither a DNS name nor an IP address.
    #[error("{field}: `{name}` is neither a DNS name nor an IP address")]
    Name {
        /// The field.
        field: &'static str,
        /// What was given.
        name: String,
    },
    /// A protocol name that ALPN cannot carry.
    #[error("{field}: `{name}` is not a protocol name of 1 to 255 bytes; write for example `h2` or `http/1.1`")]
    Alpn {
        /// The field.
        field: &'static str,
        /// What was given.
        name: String,
    },
    /// Two fields that exclude one another.
    #[error("{field} cannot be combined with {other}: {reason}")]
    Combination {
        /// The field.
        field: &'static str,
        /// The other one.
        other: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The system has no CAs that could be read.
    #[error("originate: the system's trusted CAs cannot be read{reason}; name the upstream's as originate.ca")]
    NoSystemRoots {
        /// What the system said, if anything.
        reason: String,
    },
    /// A certificate could not be made.
    #[error("{field}: cannot make a certificate: {reason}")]
    Make {
        /// The field.
        field: &'static str,
        /// What is wrong.
        reason: String,
    },
}
