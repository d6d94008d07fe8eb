//! The life of a link: open, close, move. One change at a time, and none waits for data.

use std::any::Any;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use socket2::SockRef;
use tokio::net::TcpListener;

use super::{Link, address};
use crate::error::ProxyError;
use crate::sync::{read, write};

/// What to change of a link; absent fields stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkChange {
    /// `host:port` to listen on.
    pub listen: Option<String>,
    /// `host:port` of the upstream.
    pub upstream: Option<String>,
    /// Whether it listens at all.
    pub enabled: Option<bool>,
}

impl Link {
    /// Binds its port without accepting yet. It may be called once, before [`Link::open`].
    pub(crate) async fn bind(&self) -> Result<SocketAddr, ProxyError> {
        let listen = self.listen();
        let (listener, address) =
            address::bind(self.tasks.runtime(), &self.name, &address::resolve(&self.name, &listen).await?)?;
        self.settle_at(listener, address);
        Ok(address)
    }

    /// Accepts connections, if it is bound.
    pub(crate) fn open(self: &Arc<Self>) {
        let Some(listener) = read(&self.place).listener.as_ref().map(|(l, _)| Arc::clone(l)) else { return };
        self.stopping.store(false, Ordering::Release);
        self.tasks.reopen();
        self.tasks.spawn(Arc::clone(self).accept(listener));
    }

    /// Carries out a change, or nothing of it. A change to what is there already cuts no connection.
    pub(crate) async fn change(self: &Arc<Self>, change: LinkChange) -> Result<(), ProxyError> {
        let _one = self.changing.lock().await;
        let wanted = change.enabled.unwrap_or_else(|| self.bound().is_some());
        let moves = match &change.listen {
            Some(listen) => self.moves_to(listen).await?,
            None => None,
        };
        let upstream = change.upstream.filter(|u| self.target().address.as_deref() != Some(u.as_str()));
        let rest = moves.is_none() && upstream.is_none();
        if rest && wanted == self.bound().is_some() {
            return Ok(());
        }
        if !wanted {
            self.end().await;
            if let Some((text, _)) = moves {
                write(&self.place).listen = text;
            }
        } else if let Some((text, addresses)) = moves {
            self.relocate(&text, &addresses).await?;
        } else {
            // The port stays bound while the connections end: nobody else can take it.
            self.end_connections().await;
            if self.bound().is_none() {
                self.bind().await?;
            }
        }
        if let Some(upstream) = upstream {
            self.set_upstream(&upstream);
        }
        self.open();
        Ok(())
    }

    /// Starts it if it is stopped.
    pub(crate) async fn enable(self: &Arc<Self>) -> Result<(), ProxyError> {
        self.change(LinkChange { enabled: Some(true), ..LinkChange::default() }).await
    }

    /// Closes the port and ends every connection; open exchanges are recorded as unfinished. Returns the panic of a
    /// background task, if there was one.
    pub(crate) async fn stop(&self) -> Option<Box<dyn Any + Send>> {
        let _one = self.changing.lock().await;
        self.close().await
    }

    /// Like [`Link::stop`], without waiting.
    pub(crate) fn abort(&self) {
        self.refuse();
        self.tasks.abort();
    }

    async fn close(&self) -> Option<Box<dyn Any + Send>> {
        self.refuse();
        let panic = self.tasks.stop().await;
        write(&self.place).listener = None;
        panic
    }

    /// Closes the port; a panic is raised again when the proxy shuts down.
    async fn end(&self) {
        if let Some(panic) = self.close().await {
            self.tasks.keep(panic);
        }
    }

    async fn end_connections(&self) {
        self.stopping.store(true, Ordering::Release);
        if let Some(panic) = self.tasks.stop().await {
            self.tasks.keep(panic);
        }
    }

    /// Refuses connections from this moment, also while the accepting task still holds the socket.
    fn refuse(&self) {
        self.stopping.store(true, Ordering::Release);
        if let Some((listener, _)) = &read(&self.place).listener {
            let _gone = SockRef::from(listener.as_ref()).shutdown(Shutdown::Both);
        }
    }

    /// The addresses of `listen`, unless the link is there already.
    async fn moves_to(&self, listen: &str) -> Result<Option<(String, Vec<SocketAddr>)>, ProxyError> {
        if self.listen() == listen {
            return Ok(None);
        }
        let addresses = address::resolve(&self.name, listen).await?;
        match self.bound() {
            Some(bound) if addresses.contains(&bound) => Ok(None),
            _ => Ok(Some((listen.to_owned(), addresses))),
        }
    }

    /// Binds the new address before the old one is given up; when both need one port, the old one is taken back on
    /// failure.
    async fn relocate(self: &Arc<Self>, text: &str, addresses: &[SocketAddr]) -> Result<(), ProxyError> {
        let old = self.bound();
        let first = address::bind(self.tasks.runtime(), &self.name, addresses);
        let same_port = old.is_some_and(|old| addresses.iter().any(|a| a.port() == old.port()));
        let (listener, address) = match first {
            Ok(bound) => {
                self.end().await;
                bound
            }
            Err(e) if !same_port => return Err(e),
            Err(_) => {
                self.end().await;
                match address::bind(self.tasks.runtime(), &self.name, addresses) {
                    Ok(bound) => bound,
                    Err(e) => {
                        self.bind().await?;
                        self.open();
                        return Err(e);
                    }
                }
            }
        };
        write(&self.place).listen = text.to_owned();
        self.settle_at(listener, address);
        Ok(())
    }

    fn settle_at(&self, listener: TcpListener, address: SocketAddr) {
        let mut place = write(&self.place);
        place.listen = address.to_string();
        place.listener = Some((Arc::new(listener), address));
    }
}
