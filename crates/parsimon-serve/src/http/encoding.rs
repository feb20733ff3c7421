//! Bodies that are compressed: `content-encoding: gzip` or `zstd`.

use std::io::Read;

use axum::http::{HeaderValue, StatusCode};

use crate::error::Refusal;
use crate::memory::Held;

/// Decompresses a body. `None` if it exceeds `limit` bytes; then no more than that was decompressed.
pub(super) fn decode(
    encoding: &HeaderValue,
    body: &[u8],
    limit: usize,
    held: &mut Held,
) -> Result<Option<Vec<u8>>, Refusal> {
    let name = encoding.to_str().unwrap_or_default().trim().to_ascii_lowercase();
    match name.as_str() {
        "identity" => Ok(Some(body.to_vec())),
        "gzip" | "x-gzip" => {
            read(flate2::read::MultiGzDecoder::new(body), (body.len(), limit), held)
        }
        #[cfg(feature = "zstd")]
        "zstd" => {
            let decoder = zstd::stream::read::Decoder::with_buffer(body);
            read(decoder.map_err(|e| damaged(&e))?, (body.len(), limit), held)
        }
        other => Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("content encoding {other:?} is not supported: use gzip, zstd or none"),
        )),
    }
}

/// Bytes that are decompressed before their memory is counted.
const STEP: u64 = 256 << 10;

fn read(
    decoder: impl Read,
    (packed, limit): (usize, usize),
    held: &mut Held,
) -> Result<Option<Vec<u8>>, Refusal> {
    let (mut out, mut decoder) = (Vec::new(), decoder.take(limit as u64 + 1));
    while decoder.by_ref().take(STEP).read_to_end(&mut out).map_err(|e| damaged(&e))? > 0 {
        held.reserve(packed + out.len())?;
    }
    Ok(Some(out).filter(|out| out.len() <= limit))
}

fn damaged(error: &std::io::Error) -> Refusal {
    Refusal::bad(format!("the body cannot be decompressed: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn bodies_are_decompressed_within_the_limit() {
        let text = b"1 |a b\n".repeat(100);
        let bomb = gzip(&vec![0; 1 << 20]);
        let decode = |name: &'static str, body: &[u8]| {
            super::decode(&HeaderValue::from_static(name), body, 1000, &mut Held::default())
        };
        assert_eq!(decode("gzip", &gzip(&text)).unwrap().unwrap(), text);
        assert_eq!(decode("GZIP ", &bomb).unwrap(), None);
        assert_eq!(decode("identity", b"x").unwrap().unwrap(), b"x");
        assert_eq!(decode("gzip", b"plain").unwrap_err().status(), 400);
        assert_eq!(decode("gzip", &gzip(&text)[..20]).unwrap_err().status(), 400);
        assert_eq!(decode("br", b"x").unwrap_err().status(), 415);
        #[cfg(feature = "zstd")]
        {
            let packed = zstd::bulk::compress(&text, 1).unwrap();
            assert_eq!(decode("zstd", &packed).unwrap().unwrap(), text);
        }
    }
}
