//! Certificates of an authority that only one test knows.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use redis::{ClientTlsConfig, TlsCertificates};

use crate::janitor;

/// An authority, with a certificate for a server on the loopback address and one for a client, in a
/// directory that is removed with this value.
#[derive(Debug)]
pub struct Certificates {
    dir: PathBuf,
}

impl Certificates {
    /// Makes them anew.
    ///
    /// # Panics
    /// Where they cannot be made or written.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = janitor::directory().join(format!("certificates-{number}"));
        fs::create_dir(&dir).expect("a directory for certificates");
        let certificates = Self { dir };
        let authority = authority();
        certificates.write("authority.pem", authority.pem());
        for (name, subject) in [("server", "127.0.0.1"), ("client", "client")] {
            let key = KeyPair::generate().expect("a key");
            let mut params = CertificateParams::new([subject.to_owned()]).expect("a valid name");
            params.distinguished_name.push(DnType::CommonName, name);
            let certificate = params.signed_by(&key, &authority).expect("a certificate");
            certificates.write(&format!("{name}.pem"), certificate.pem());
            certificates.write(&format!("{name}.key"), key.serialize_pem());
        }
        certificates
    }

    /// Where they are: `authority.pem`, and `.pem` and `.key` of `server` and `client`.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What a client needs that trusts the authority, and shows a certificate where `both_sides`.
    ///
    /// # Panics
    /// Where the files are gone.
    pub fn of_client(&self, both_sides: bool) -> TlsCertificates {
        TlsCertificates {
            root_cert: Some(self.read("authority.pem")),
            client_tls: both_sides.then(|| ClientTlsConfig {
                client_cert: self.read("client.pem"),
                client_key: self.read("client.key"),
            }),
        }
    }

    fn write(&self, name: &str, text: String) {
        fs::write(self.dir.join(name), text).expect("a file for a certificate");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.dir.join(name)).expect("a certificate that was written")
    }
}

impl Default for Certificates {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        // The janitor comes after.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    // Where subject and issuer had one name, a certificate would look signed by itself.
    params
        .distinguished_name
        .push(DnType::CommonName, "authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    CertifiedIssuer::self_signed(params, key).expect("an authority")
}
