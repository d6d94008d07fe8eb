//! As much of a certificate's DER as is needed to sign in its name: whom it names, and its key's identifier.

use rcgen::string::{BmpString, Ia5String, PrintableString, TeletexString, UniversalString};
use rcgen::{DistinguishedName, DnType, DnValue};

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OID: u8 = 0x06;
const OCTETS: u8 = 0x04;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// 2.5.29.14, the subject's key identifier.
const KEY_ID: [u8; 3] = [0x55, 0x1d, 0x0e];

/// What a certificate says about who signed whom.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names<'a> {
    pub(super) issuer: &'a [u8],
    pub(super) subject: &'a [u8],
    pub(super) key_id: Option<&'a [u8]>,
}

/// Values one after the other.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next value: its tag and its content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let mut length = usize::from(first);
        if first >= 0x80 {
            let count = usize::from(first & 0x7f);
            if !(1..=4).contains(&count) || rest.len() < count {
                return None;
            }
            let (digits, behind) = rest.split_at(count);
            length = digits.iter().fold(0, |n, digit| n << 8 | usize::from(*digit));
            rest = behind;
        }
        let (content, behind) = rest.split_at_checked(length)?;
        self.0 = behind;
        Some((tag, content))
    }

    /// The content of the next value, which has to have this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

/// Reads a certificate; `None` when it is none.
pub(super) fn names(certificate: &[u8]) -> Option<Names<'_>> {
    let mut certificate = Der(Der(certificate).expect(SEQUENCE)?);
    let mut signed = Der(certificate.expect(SEQUENCE)?);
    if signed.0.first() == Some(&VERSION) {
        signed.next()?;
    }
    let _serial = signed.next()?;
    let _algorithm = signed.expect(SEQUENCE)?;
    let issuer = signed.expect(SEQUENCE)?;
    let _validity = signed.expect(SEQUENCE)?;
    let subject = signed.expect(SEQUENCE)?;
    let _key = signed.expect(SEQUENCE)?;
    let mut key_id = None;
    while let Some((tag, content)) = signed.next() {
        if tag == EXTENSIONS {
            key_id = key_id_of(Der(content).expect(SEQUENCE)?);
        }
    }
    Some(Names { issuer, subject, key_id })
}

fn key_id_of(extensions: &[u8]) -> Option<&[u8]> {
    let mut extensions = Der(extensions);
    loop {
        let mut extension = Der(extensions.expect(SEQUENCE)?);
        if extension.expect(OID)? == KEY_ID {
            return Der(extension.expect(OCTETS)?).expect(OCTETS);
        }
    }
}

/// A name as the certificates that it signs repeat it; `None` when it has parts that cannot be repeated.
pub(super) fn distinguished(name: &[u8]) -> Option<DistinguishedName> {
    let mut parts = Der(name);
    let mut made = DistinguishedName::new();
    while !parts.0.is_empty() {
        let mut set = Der(parts.expect(SET)?);
        let mut part = Der(set.expect(SEQUENCE)?);
        let kind = DnType::from_oid(&arcs(part.expect(OID)?)?);
        let (tag, content) = part.next()?;
        made.push(kind, value(tag, content)?);
    }
    Some(made)
}

fn value(tag: u8, content: &[u8]) -> Option<DnValue> {
    let text = || std::str::from_utf8(content).ok();
    Some(match tag {
        0x0c => DnValue::Utf8String(text()?.to_owned()),
        0x13 => DnValue::PrintableString(PrintableString::try_from(text()?).ok()?),
        0x14 => DnValue::TeletexString(TeletexString::try_from(text()?).ok()?),
        0x16 => DnValue::Ia5String(Ia5String::try_from(text()?).ok()?),
        0x1c => DnValue::UniversalString(UniversalString::from_utf32be(content.to_vec()).ok()?),
        0x1e => DnValue::BmpString(BmpString::from_utf16be(content.to_vec()).ok()?),
        _ => return None,
    })
}

/// The numbers of an object identifier.
fn arcs(oid: &[u8]) -> Option<Vec<u64>> {
    let mut arcs = Vec::new();
    let mut arc = 0_u64;
    for byte in oid {
        arc = arc.checked_mul(128)?.checked_add(u64::from(byte & 0x7f))?;
        if byte & 0x80 != 0 {
            continue;
        }
        if arcs.is_empty() {
            let first = (arc / 40).min(2);
            arcs.extend([first, arc - first * 40]);
        } else {
            arcs.push(arc);
        }
        arc = 0;
    }
    (oid.last()? & 0x80 == 0).then_some(arcs)
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    use super::*;

    fn certificate() -> (CertificateParams, KeyPair, Vec<u8>) {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let mut name = DistinguishedName::new();
        name.push(DnType::CountryName, DnValue::PrintableString("CH".try_into().expect("printable")));
        name.push(DnType::OrganizationName, "Zürich & Söhne");
        name.push(DnType::CustomDnType(vec![0, 9, 2342, 19_200_300, 100, 1, 25]), {
            DnValue::Ia5String("example".try_into().expect("ASCII"))
        });
        name.push(DnType::CommonName, "x".repeat(200));
        params.distinguished_name = name;
        let key = KeyPair::generate().expect("key");
        let der = params.self_signed(&key).expect("certificate").der().to_vec();
        (params, key, der)
    }

    // Proves that a name with every usual kind of part is read as it was written, and the key's identifier too.
    #[test]
    fn names_are_read_as_written() {
        let (params, key, der) = certificate();
        let names = names(&der).expect("a certificate");
        assert_eq!(names.issuer, names.subject);
        assert_eq!(names.key_id, Some(params.key_identifier(&key).as_slice()));
        assert_eq!(distinguished(names.subject), Some(params.distinguished_name));
    }

    // Proves that no beginning of a certificate, and none with a byte turned, is more than refused.
    #[test]
    fn broken_certificates_are_survived() {
        let (_, _, der) = certificate();
        assert!((0..der.len()).all(|n| names(&der[..n]).is_none()));
        for n in 0..der.len() {
            let mut turned = der.clone();
            turned[n] ^= 0xff;
            if let Some(names) = names(&turned) {
                let _either = distinguished(names.subject);
            }
        }
    }
}
