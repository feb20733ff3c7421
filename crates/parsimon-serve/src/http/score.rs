//! `POST /v1/models/{m}/score`

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;

use super::Service;
use super::body::{Received, RowAnswers, work};
use crate::answer::write_json;
use crate::content::Content;
use crate::error::Refusal;

pub(super) async fn score(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let model = service.model(&model)?;
    let received = Received::new(request, service.limits.body).await?;
    work(received.body.len(), || {
        let content = Content::new(received.content_type(), &received.body)?;
        let mut rows = RowAnswers::new(content.shape);
        if received.flag("explain")? {
            for row in model.explain(&content, &service.limits)? {
                rows.next().extend_from_slice(&row);
            }
        } else {
            model.score_tracked(&content, &service.limits, |row, tracked| {
                let out = rows.next();
                model.write(row, out);
                if let Some(tracked) = tracked {
                    out.extend_from_slice(b",\"tracked\":");
                    write_json(out, &tracked);
                }
                out.push(b'}');
            })?;
        }
        Ok(rows.finish())
    })
}
