//! Links come, change and go while the proxy runs. No call here waits for a connection's data.

use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Core, LinkStatus};
use crate::config::{LinkConfig, Mode};
use crate::engine::Armed;
use crate::error::{MAX_NAME, ProxyError};
use crate::link::{Link, LinkChange, Parts};
use crate::rules::Rule;
use crate::sync::{read, write};
use crate::tls::LinkTls;
use crate::toxics::ToxicBoard;

/// The most links that a proxy has at once.
pub const MAX_LINKS: usize = 10_000;
/// Characters of an unusable name that its refusal repeats.
const SHOWN_OF_NAME: usize = 64;

/// Why a link with rules of its own could not be added.
#[derive(Debug, thiserror::Error)]
pub enum AddLinkError {
    /// The link.
    #[error(transparent)]
    Link(#[from] ProxyError),
    /// A rule.
    #[error(transparent)]
    Rule(#[from] crate::rules::RuleError),
}

impl Core {
    /// Adds a link. It accepts connections when this returns, unless its config says otherwise.
    pub(crate) async fn add_link(&self, config: LinkConfig) -> Result<LinkStatus, ProxyError> {
        let enabled = config.enabled;
        let link = self.bound_link(config).await?;
        self.enter(&link)?;
        if enabled {
            link.open();
        }
        Ok(LinkStatus::of(&link))
    }

    /// Adds a link whose `rules` are in force before its first connection is accepted; all of it, or nothing.
    pub(crate) async fn add_link_with(
        &self,
        config: LinkConfig,
        rules: Vec<Rule>,
    ) -> Result<(LinkStatus, Vec<Armed>), AddLinkError> {
        let enabled = config.enabled;
        let link = self.bound_link(config).await?;
        self.enter(&link)?;
        match self.engine.arm(rules) {
            Ok(armed) => {
                if enabled {
                    link.open();
                }
                Ok((LinkStatus::of(&link), armed))
            }
            Err(e) => {
                self.forget(&link.name);
                self.end(&link).await;
                Err(e.into())
            }
        }
    }

    /// Changes a link, or nothing of it.
    pub(crate) async fn change_link(&self, name: &str, change: LinkChange) -> Result<LinkStatus, ProxyError> {
        let link = self.find(name)?;
        if let Some(address) = &change.upstream {
            check_upstream(name, address)?;
        }
        link.change(change).await?;
        Ok(LinkStatus::of(&link))
    }

    /// Starts a link if it is stopped.
    pub(crate) async fn enable_link(&self, name: &str) -> Result<(), ProxyError> {
        self.find(name)?.enable().await
    }

    /// Takes a link away: its port is closed, its connections end, and rules that name it are disarmed.
    pub(crate) async fn remove_link(&self, name: &str) -> Result<(), ProxyError> {
        let link = self.forget(name).ok_or_else(|| self.unknown(name))?;
        self.end(&link).await;
        Ok(())
    }

    pub(crate) fn link_status(&self, name: &str) -> Result<LinkStatus, ProxyError> {
        self.find(name).map(|link| LinkStatus::of(&link))
    }

    /// What would make a link like this one, as it is now.
    pub(crate) fn link_config(&self, name: &str) -> Result<LinkConfig, ProxyError> {
        self.find(name).map(|link| link.config())
    }

    /// All links, sorted by name.
    pub(crate) fn link_statuses(&self) -> Vec<LinkStatus> {
        self.all().iter().map(|link| LinkStatus::of(link)).collect()
    }

    /// The toxics of a byte link.
    pub(crate) fn toxics(&self, name: &str) -> Result<Arc<ToxicBoard>, ProxyError> {
        let link = self.find(name)?;
        match link.mode {
            Mode::Tcp => Ok(Arc::clone(&link.toxics)),
            Mode::Http => Err(ProxyError::NoToxics(link.name.clone())),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Result<Arc<Link>, ProxyError> {
        // The lock is let go first: the error lists the links under it again.
        let found = read(&self.links).get(name).cloned();
        found.ok_or_else(|| self.unknown(name))
    }

    /// Checks before it binds, so that a taken name is reported as that.
    async fn bound_link(&self, mut config: LinkConfig) -> Result<Arc<Link>, ProxyError> {
        check(&config)?;
        {
            let links = read(&self.links);
            if links.contains_key(&config.name) {
                return Err(ProxyError::NameTaken(config.name));
            }
            if links.len() >= MAX_LINKS {
                return Err(ProxyError::TooManyLinks { limit: MAX_LINKS });
            }
        }
        let failed = |source| ProxyError::Tls { link: config.name.clone(), source };
        let tls = LinkTls::ready(&config.tls, config.mode, &self.trust).await.map_err(failed)?;
        let enabled = config.enabled;
        let id = self.next_link.fetch_add(1, Ordering::AcqRel);
        let toxics = std::mem::take(&mut config.toxics);
        if config.mode == Mode::Http && !toxics.is_empty() {
            return Err(ProxyError::NoToxics(config.name));
        }
        let toxics = ToxicBoard::new(self.seed, self.quirks, toxics)?;
        let link = Arc::new(Link::new(id, config, Parts { toxics, tls }, self.common()));
        if enabled {
            link.bind().await?;
        }
        Ok(link)
    }

    /// Puts a link into the table; another call may have taken its name meanwhile.
    fn enter(&self, link: &Arc<Link>) -> Result<(), ProxyError> {
        match write(&self.links).entry(link.name.clone()) {
            Entry::Occupied(_) => Err(ProxyError::NameTaken(link.name.clone())),
            Entry::Vacant(place) => {
                self.engine.add_link(link.id, &link.name, link.mode);
                link.toxics.witnessed(&link.name, &self.log, self.clock);
                place.insert(Arc::clone(link));
                Ok(())
            }
        }
    }

    /// Takes a link out of the table; no rule can name it any more. Its own rules stay until its connections are gone:
    /// disarming them first would let go what they hold. Under the table's lock throughout, so that no other link of this
    /// name enters while rules still find the old one.
    fn forget(&self, name: &str) -> Option<Arc<Link>> {
        let mut links = write(&self.links);
        let link = links.remove(name)?;
        self.engine.close_link(link.id);
        Some(link)
    }

    fn unknown(&self, name: &str) -> ProxyError {
        let links = read(&self.links).keys().cloned().collect::<Vec<_>>().join(", ");
        ProxyError::UnknownLink { link: name.to_owned(), links }
    }
}

fn check(link: &LinkConfig) -> Result<(), ProxyError> {
    let printable = !link.name.trim().is_empty() && !link.name.contains(char::is_control);
    if !printable || link.name.len() > MAX_NAME {
        let start = link.name.chars().take(SHOWN_OF_NAME).collect();
        return Err(ProxyError::BadName(start));
    }
    if let Some(address) = &link.upstream {
        check_upstream(&link.name, address)?;
    }
    if let Some(header) = &link.key_header
        && !crate::rules::is_token(header)
    {
        return Err(ProxyError::BadKeyHeader { link: link.name.clone(), header: header.clone() });
    }
    Ok(())
}

pub(crate) fn check_upstream(link: &str, address: &str) -> Result<(), ProxyError> {
    let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).and_then(|(_, p)| p.parse::<u16>().ok());
    match port {
        Some(port) if port > 0 => Ok(()),
        _ => Err(ProxyError::BadUpstream { link: link.to_owned(), address: address.to_owned() }),
    }
}
