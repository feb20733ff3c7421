//! The page of `parsimon cancel --page`: both sounds to play, their levels and their spectrograms.

use maud::{Markup, PreEscaped, html};
use parsimon::workspace::number::significant;
use parsimon_audio::Canceled;
use parsimon_audio::wav::{self, SampleFormat, Signal};
use parsimon_page::{document, facts};

use crate::args::CancelArgs;
use crate::fault::Fault;

/// The page, which opens offline: sounds and figures are inside. `figures` are SVG.
pub(super) fn html(
    args: &CancelArgs,
    microphone: &Signal,
    done: &Canceled,
    figures: &[String],
) -> Result<String, Fault> {
    let report = &done.report;
    let db = |value: Option<f64>| {
        value.map_or("unknown".to_owned(), |v| format!("{} dB", significant(v, 3)))
    };
    let title = format!("Echo canceled: {}", args.near().display());
    let before = sound("microphone", &microphone.samples, microphone.rate)?;
    let after = sound("without echo", &done.clean, microphone.rate)?;
    Ok(document(
        &title,
        html! {
            h1 { (title) } "\n"
            (before) (after)
            (facts([
                ("filter", vec![html! { (report.algorithm) ", " (report.taps) " taps at " (report.settings.rate) " Hz" }]),
                ("delay of the reference", vec![html! { (report.shift) " samples" }]),
                ("ERLE", vec![html! { (db(report.erle.overall)) ", second half " (db(report.erle.second_half)) }]),
                ("double talk", vec![html! { (format!("{:.0}%", 100.0 * report.double_talk_share)) " of the active time" }]),
            ]))
            @for figure in figures { figure { (PreEscaped(figure)) } "\n" }
        },
    ))
}

/// A player with the samples inside.
fn sound(name: &str, samples: &[f32], rate: u32) -> Result<Markup, Fault> {
    let data = base64(&wav::to_bytes(samples, rate, SampleFormat::Int16)?);
    Ok(html! {
        figure {
            figcaption { (name) }
            audio controls preload="auto" aria-label=(name) src={ "data:audio/wav;base64," (data) } {}
        }
        "\n"
    })
}

/// Base64 (RFC 4648) with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            (0..3).fold(0u32, |w, i| (w << 8) | u32::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let digit = DIGITS[((word >> (18 - 6 * i)) & 63) as usize];
            text.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_examples_of_rfc_4648() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
