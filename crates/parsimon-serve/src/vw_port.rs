//! The protocol of VW's daemon: a line of VW text in, a line with the prediction out, in order.
//!
//! A line with a label is answered with the prediction made before it is learned, and after it is durable. A line without one is
//! predicted with everything that its connection sent before. Lines that have come together are learned together, so that a client
//! that sends without waiting pays for few syncs. A bad line is answered with a line that begins with `error:`.

use std::io::Write as _;
use std::sync::Arc;

use parsimon::data::Format;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use crate::answer::Prediction;
use crate::connections::{Activity, Connections, Timed};
use crate::content::{Content, Shape};
use crate::engine::{Limits, Model, Request};
use crate::error::Refusal;
use crate::http::Service;
use crate::wait::{blocking, first};

/// Bytes of lines that are read before they are answered.
const AT_ONCE: usize = 256 << 10;

/// Serves connections until the end is asked for.
pub(crate) async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    model: Option<String>,
    connections: Arc<Connections>,
    mut ending: watch::Receiver<bool>,
) {
    loop {
        let accepted = {
            let accepted = std::pin::pin!(listener.accept());
            first(std::pin::pin!(ending.wait_for(|end| *end)), accepted).await
        };
        let (stream, peer) = match accepted {
            None => return,
            Some(Ok((stream, peer))) => (stream, peer),
            Some(Err(_)) => {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                continue;
            }
        };
        // Without a place the connection is closed at once.
        let Some(place) = connections.enter(peer.ip()) else { continue };
        let limits = service.limits;
        // While the models are being opened there is nobody to answer.
        let Ok(model) = service.model_or_only(model.as_deref()).cloned() else { continue };
        let mut ending = ending.clone();
        tokio::spawn(async move {
            let activity = place.activity();
            let stream = Timed::new(stream, limits.patience, activity.clone());
            let talk = std::pin::pin!(talk(stream, &model, &limits, &activity));
            let ended = std::pin::pin!(ending.wait_for(|end| *end));
            let closed = std::pin::pin!(activity.closed());
            // An error is the client's, and there is no one to answer.
            let _ = first(ended, std::pin::pin!(first(closed, talk))).await;
        });
    }
}

/// Answers the lines of one client.
async fn talk(
    mut stream: Timed,
    model: &Model,
    limits: &Limits,
    activity: &Arc<Activity>,
) -> std::io::Result<()> {
    let (mut buffer, mut out) = (Vec::new(), Vec::new());
    loop {
        buffer.reserve(64 << 10);
        let read = stream.read_buf(&mut buffer).await?;
        let end = match read {
            // The last line may have no end.
            0 => buffer.len(),
            _ => buffer.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1),
        };
        if end == 0 && buffer.len() > AT_ONCE.max(limits.body) {
            stream.write_all(b"error: the line is too long\n").await?;
            return Ok(());
        }
        out.clear();
        let _work = activity.work();
        answer(&buffer[..end], model, limits, &mut out).await;
        stream.write_all(&out).await?;
        buffer.drain(..end);
        if read == 0 {
            return Ok(());
        }
    }
}

/// Answers lines in order: those with labels together, those without together.
async fn answer(text: &[u8], model: &Model, limits: &Limits, out: &mut Vec<u8>) {
    let lines: Vec<&[u8]> =
        text.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    for run in lines.chunk_by(|a, b| kind(a) == kind(b)) {
        for part in run.chunks(limits.rows.clamp(1, 4096)) {
            match kind(part[0]) {
                Line::Refused => {
                    for _ in part {
                        out.extend_from_slice(
                            b"error: save_ is refused; use POST /v1/models/NAME/snapshot\n",
                        );
                    }
                }
                Line::Bare => score(part, model, limits, out),
                Line::Labelled => {
                    if let Err(refusal) = learn(part, model, limits, out).await {
                        part.iter().for_each(|_| complain(&refusal, out));
                    }
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Labelled,
    Bare,
    Refused,
}

/// Whether a line has a label: a word before the bar that is no tag.
fn kind(line: &[u8]) -> Line {
    if line.starts_with(b"save_") || line.starts_with(b"save\n") {
        return Line::Refused;
    }
    let head = &line[..line.iter().position(|&b| b == b'|').unwrap_or(0)];
    let mut words = head.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_tag = |word: &[u8]| word.starts_with(b"'") || head.ends_with(word);
    match words.next() {
        Some(first) if !is_tag(first) || words.next().is_some() => Line::Labelled,
        _ => Line::Bare,
    }
}

fn content(lines: &[&[u8]]) -> Content<'static> {
    Content { format: Format::Vw, text: lines.join(&b'\n').into(), shape: Shape::Lines }
}

/// Learns the good ones of some lines together, and answers all in order.
async fn learn(
    lines: &[&[u8]],
    model: &Model,
    limits: &Limits,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let (answer, answered) = oneshot::channel();
    let request = Request { margins: Some(answer), is_partial: true, ..Request::default() };
    let learning = model.learner()?;
    let taken = blocking(|| learning.learn(&content(lines), request, limits))?;
    let margins = match taken.learned {
        0 => Vec::new(),
        _ => answered.await.map_err(|_| Refusal::unavailable("the log has failed"))?,
    };
    let mut margins = margins.chunks(model.task().outputs());
    let mut refused = taken.refused.iter().peekable();
    for (line, row) in lines.iter().zip(1..) {
        match refused.next_if(|(refused, _)| *refused == row) {
            Some((_, why)) => {
                // A line is a body of its own to its client, however many were read with it.
                let words = why["error"].as_str().unwrap_or_default();
                let place = format!("body:{}:", why["line"]);
                let rest = words.strip_prefix(&place);
                let words = rest.map_or(words.to_owned(), |rest| format!("body:1:{rest}"));
                out.extend_from_slice(format!("error: {words}\n").as_bytes());
            }
            None => write(model, margins.next().unwrap_or_default(), tag(line), out),
        }
    }
    Ok(())
}

fn score(lines: &[&[u8]], model: &Model, limits: &Limits, out: &mut Vec<u8>) {
    let start = out.len();
    let scored = model.score(&content(lines), limits, |row| write(model, row.margins, row.id, out));
    let Err(refusal) = scored else { return };
    out.truncate(start);
    match lines {
        [_] => complain(&refusal, out),
        // Halves: a few bad lines cost the others little.
        lines => {
            let (one, other) = lines.split_at(lines.len() / 2);
            score(one, model, limits, out);
            score(other, model, limits, out);
        }
    }
}

fn complain(refusal: &Refusal, out: &mut Vec<u8>) {
    out.extend_from_slice(b"error: ");
    out.extend_from_slice(refusal.message().as_bytes());
    out.push(b'\n');
}

/// The tag of a line.
fn tag(line: &[u8]) -> &[u8] {
    let head = &line[..line.iter().position(|&b| b == b'|').unwrap_or(0)];
    let last = head.split(u8::is_ascii_whitespace).next_back().unwrap_or_default();
    let word = head.split(u8::is_ascii_whitespace).rfind(|word| !word.is_empty());
    match word {
        Some(word) if word.starts_with(b"'") => &word[1..],
        Some(word) if !last.is_empty() => word,
        _ => b"",
    }
}

/// A prediction as VW writes it, with the tag of its row.
fn write(model: &Model, margins: &[f64], tag: &[u8], out: &mut Vec<u8>) {
    // Writing into memory does not fail.
    let _ = match model.task().prediction(margins) {
        Prediction::Number(x) => write!(out, "{x:.6}"),
        Prediction::Class(class) => write!(out, "{class}"),
    };
    if !tag.is_empty() {
        out.push(b' ');
        out.extend_from_slice(tag);
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_tags_are_told_apart() {
        let labelled = ["1 |a b", "-1 2 'x|a", "1 tag|a", "1 1 0 |a", " 0 |"];
        let bare = ["|a b", "'tag |a", "tag|a", "  |a", "no bar"];
        assert!(labelled.iter().all(|line| kind(line.as_bytes()) == Line::Labelled));
        assert!(bare.iter().all(|line| kind(line.as_bytes()) == Line::Bare));
        assert!(kind(b"save_model.vw") == Line::Refused);
        let tags = [("1 'x|a", "x"), ("1 x|a", "x"), ("1 2 |a", ""), ("1 'x |a", "x"), ("|a", "")];
        for (line, expected) in tags {
            assert_eq!(tag(line.as_bytes()), expected.as_bytes(), "{line}");
        }
    }
}
