//! Tensors of the Open Inference Protocol, as JSON or as the bytes behind it.

use std::borrow::Cow;

use serde_json::Value;

use crate::error::Refusal;

/// Content of a tensor of any shape.
pub(super) enum Tensor<'a> {
    Texts(Vec<Cow<'a, [u8]>>),
    Numbers(Vec<f64>),
}

/// Reads tensors with their names. The data of binary ones stands in `binary`, one after the other.
pub(super) fn tensors<'a>(
    inputs: &'a [Value],
    mut binary: &'a [u8],
) -> Result<Vec<(String, Tensor<'a>)>, Refusal> {
    let mut tensors = Vec::new();
    for input in inputs {
        let name = input.get("name").and_then(Value::as_str).unwrap_or_default();
        let bad = |words: String| Refusal::bad(format!("tensor {name:?}: {words}"));
        let datatype = input.get("datatype").and_then(Value::as_str).unwrap_or_default();
        let size = input.get("parameters").and_then(|p| p.get("binary_data_size"));
        let tensor = match (size.and_then(Value::as_u64), input.get("data")) {
            (Some(size), _) => {
                let size = usize::try_from(size).ok().filter(|size| *size <= binary.len());
                let size = size.ok_or_else(|| bad("binary_data_size exceeds the body".into()))?;
                let (own, rest) = binary.split_at(size);
                binary = rest;
                from_bytes(datatype, own)
            }
            (None, Some(data)) => from_json(datatype, data),
            (None, None) => return Err(bad("there is no data".into())),
        };
        let words = format!("its data does not fit the datatype {datatype:?}");
        let tensor = tensor.ok_or_else(|| bad(words))?;
        tensors.push((name.to_owned(), tensor));
    }
    Ok(tensors)
}

fn from_json<'a>(datatype: &str, data: &'a Value) -> Option<Tensor<'a>> {
    let mut items = Vec::new();
    flatten(data, &mut items);
    if datatype == "BYTES" {
        let text = |item: &&'a Value| item.as_str().map(|text| Cow::Borrowed(text.as_bytes()));
        return items.iter().map(text).collect::<Option<_>>().map(Tensor::Texts);
    }
    items.iter().map(|item| item.as_f64()).collect::<Option<_>>().map(Tensor::Numbers)
}

/// Lists of lists are rows of a tensor. The recursion is bounded by that of the JSON reader.
fn flatten<'a>(data: &'a Value, items: &mut Vec<&'a Value>) {
    match data {
        Value::Array(list) => list.iter().for_each(|item| flatten(item, items)),
        item => items.push(item),
    }
}

fn from_bytes<'a>(datatype: &str, mut bytes: &'a [u8]) -> Option<Tensor<'a>> {
    if datatype == "BYTES" {
        let mut texts = Vec::new();
        while !bytes.is_empty() {
            let (length, rest) = bytes.split_first_chunk::<4>()?;
            let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            texts.push(Cow::Borrowed(text));
            bytes = rest;
        }
        return Some(Tensor::Texts(texts));
    }
    let numbers = match datatype {
        "FP32" => each(bytes, |b| f32::from_le_bytes(b).into()),
        "FP64" => each(bytes, f64::from_le_bytes),
        "INT32" => each(bytes, |b| i32::from_le_bytes(b).into()),
        "UINT32" => each(bytes, |b| u32::from_le_bytes(b).into()),
        "INT64" => each(bytes, |b| i64::from_le_bytes(b) as f64),
        "UINT64" => each(bytes, |b| u64::from_le_bytes(b) as f64),
        _ => None,
    };
    numbers.map(Tensor::Numbers)
}

fn each<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f64) -> Option<Vec<f64>> {
    let (numbers, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| numbers.iter().map(|bytes| read(*bytes)).collect())
}
