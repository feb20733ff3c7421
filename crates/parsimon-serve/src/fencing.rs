//! A leader that watches its follower: once the follower has been promoted, this process learns nothing any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::engine::Model;

/// Time between two questions.
const EVERY: Duration = Duration::from_millis(100);

/// A thread that watches; it ends when this is dropped.
pub struct Watch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Asks the follower of some models for its epoch, now and then as long as the process runs. A higher epoch than the own one ends
/// learning for good. The first answer is waited for, but not for long: a follower that is down must not keep its leader down.
pub fn watch_follower(
    models: &[Arc<Model>],
    url: &str,
    token: Option<&str>,
) -> std::io::Result<Watch> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(Duration::from_secs(2)))
        .build();
    let agent = config.new_agent();
    let (models, url, token) =
        (models.to_vec(), url.trim_end_matches('/').to_owned(), token.map(str::to_owned));
    let ask = move || {
        for model in &models {
            let mut request = agent.get(format!("{url}/v1/models/{}", model.name()));
            if let Some(token) = &token {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            // A follower that does not answer says nothing about its epoch.
            let Ok(mut answer) = request.call() else { continue };
            let Ok(body) = answer.body_mut().read_to_vec() else { continue };
            let about: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
            let (Some(epoch), Ok(learning)) = (about["version"]["epoch"].as_u64(), model.learner())
            else {
                continue;
            };
            if epoch > u64::from(learning.epoch()) && about["following"].is_null() {
                let words = format!("the follower at {url} was promoted to epoch {epoch}");
                learning.fence(epoch as u32, &words);
            }
        }
    };
    ask();
    let is_over = Arc::new(AtomicBool::new(false));
    let own = is_over.clone();
    let thread = std::thread::Builder::new().name("watch follower".into()).spawn(move || {
        while !own.load(Ordering::Relaxed) {
            ask();
            std::thread::sleep(EVERY);
        }
    })?;
    Ok(Watch { is_over, thread: Some(thread) })
}
