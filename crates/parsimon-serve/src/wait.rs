//! Waiting for the first of two things.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

/// The event that happened first.
pub(crate) enum Either<A, B> {
    First(A),
    Second(B),
}

/// Waits for one of two.
pub(crate) async fn either<A: Future + Unpin, B: Future + Unpin>(
    a: A,
    b: B,
) -> Either<A::Output, B::Output> {
    let (mut a, mut b) = (a, b);
    std::future::poll_fn(move |context| {
        if let Poll::Ready(done) = Pin::new(&mut a).poll(context) {
            return Poll::Ready(Either::First(done));
        }
        Pin::new(&mut b).poll(context).map(Either::Second)
    })
    .await
}

/// Waits for `stop` or for `work`; `None` if it is over.
pub(crate) async fn first<S: Future + Unpin, W: Future + Unpin>(
    stop: S,
    work: W,
) -> Option<W::Output> {
    match either(stop, work).await {
        Either::First(_) => None,
        Either::Second(done) => Some(done),
    }
}

/// Runs work that may wait for a lock or take long. Other tasks of this thread move to other threads meanwhile.
pub(crate) fn blocking<R>(work: impl FnOnce() -> R) -> R {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
