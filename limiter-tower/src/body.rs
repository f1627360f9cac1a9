//! The body of what is answered: the service's own, or the explanation of a refusal.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use limiter_core::Permit;
use pin_project_lite::pin_project;

pin_project! {
    /// The body of an answer. One of the service's own holds the permit of its request until it ends
    /// or is dropped.
    #[derive(Debug)]
    pub struct LimitBody<B> {
        #[pin]
        kind: Kind<B>,
        permit: Option<Permit>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = KindProjection]
    enum Kind<B> {
        Inner { #[pin] body: B },
        Explanation { bytes: Option<Bytes> },
    }
}

impl<B> LimitBody<B> {
    pub(crate) fn inner(body: B, permit: Option<Permit>) -> Self {
        Self {
            kind: Kind::Inner { body },
            permit,
        }
    }

    pub(crate) fn explanation(bytes: Bytes) -> Self {
        Self {
            kind: Kind::Explanation { bytes: Some(bytes) },
            permit: None,
        }
    }
}

impl<B: Body<Data = Bytes>> Body for LimitBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        match this.kind.project() {
            KindProjection::Inner { body } => {
                let frame = ready!(body.poll_frame(context));
                if !matches!(frame, Some(Ok(_))) {
                    // Nothing comes after the end, nor after an error: the work is done.
                    drop(this.permit.take());
                }
                Poll::Ready(frame)
            }
            KindProjection::Explanation { bytes } => {
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Inner { body } => body.is_end_stream(),
            Kind::Explanation { bytes } => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Inner { body } => body.size_hint(),
            Kind::Explanation { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
        }
    }
}
