//! Pieces to parsed pieces, in order: in the calling thread, or in several.
//!
//! With threads, one cuts the input and hands piece `i` to parser `i mod n`; what they parsed is
//! collected in the same turn. So the order of rows is the order of the input regardless of the number of
//! threads, nothing has to be sorted, and what is in flight is bounded by the queues.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, SendError, Sender, bounded, unbounded};

use parsimon_files::threads;

use crate::builder::{Builder, Parsed, Spec};
use crate::cache::Contents;
use crate::columns::Columns;
use crate::delimited::{self, Dialect};
use crate::line_blocks::BLOCK;
use crate::source::{Body, Piece, Source};
use crate::{Format, cache, columnar, jsonl, svmlight, vw};

/// A parsed piece with what is known of its place.
pub(crate) struct Done {
    pub(crate) name: Arc<str>,
    pub(crate) is_first: bool,
    pub(crate) is_last: bool,
    pub(crate) lines_before: u64,
    pub(crate) bytes: u64,
    pub(crate) contents: Option<Arc<Contents>>,
    pub(crate) parsed: Parsed,
    /// Whether the piece was far larger than the usual ones.
    is_giant: bool,
}

/// Parses pieces; one per thread.
struct Parser {
    format: Format,
    builder: Builder,
}

impl Parser {
    fn new(format: Format, spec: Arc<Spec>) -> Self {
        Self { format, builder: Builder::new(spec) }
    }

    /// Parses a piece with the buffers of `shell`; also returns the piece's own buffer.
    fn parse(&mut self, piece: Piece, shell: Parsed) -> (Done, Vec<u8>) {
        let is_giant = is_giant(&piece);
        let builder = &mut self.builder;
        builder.begin(shell);
        let mut spare = Vec::new();
        match piece.body {
            Body::Text { buffer, len } => {
                let text = &buffer[..len];
                match (self.format, &piece.columns) {
                    (Format::Svmlight, _) => svmlight::parse(builder, text),
                    (Format::Vw, _) => vw::parse(builder, text),
                    (Format::Jsonl, columns) => jsonl::parse(builder, text, columns.as_ref()),
                    (Format::Csv, Some(columns)) => {
                        let Columns { delimiter, is_careless, tails, .. } = **columns;
                        let dialect = Dialect { delimiter, is_careless, tails, ..Dialect::CSV };
                        delimited::parse(builder, text, columns, dialect);
                    }
                    (Format::Tsv, Some(columns)) => {
                        let dialect = Dialect { tails: columns.tails, ..Dialect::TSV };
                        delimited::parse(builder, text, columns, dialect);
                    }
                    _ => {}
                }
                spare = buffer;
            }
            Body::Block { buffer, head, contents } => {
                let payload = &buffer[..head.len];
                builder.out.failure = cache::decode(builder, payload, &head, &contents).err();
                spare = buffer;
            }
            Body::Batch { batch, layout } => {
                builder.out.failure = columnar::parse(builder, &batch, &layout, &piece.name).err();
            }
            Body::End => {}
            Body::Failed(e) => builder.out.failure = Some(e),
        }
        let parsed = builder.end();
        let Piece { name, is_first, is_last, lines_before, bytes, contents, .. } = piece;
        (Done { name, is_first, is_last, lines_before, bytes, contents, parsed, is_giant }, spare)
    }
}

/// Parsing: in the calling thread, or in threads.
pub(crate) enum Engine {
    Here(Box<Here>),
    Threads(Threads),
}

pub(crate) struct Here {
    source: Source,
    parser: Parser,
    buffer: Vec<u8>,
    shell: Parsed,
}

pub(crate) struct Threads {
    turn: usize,
    lanes: Vec<Lane>,
    handles: Vec<JoinHandle<()>>,
    /// One giant piece is on its way at a time: the queues bound the number of pieces, and this their size.
    giant: Option<Receiver<()>>,
}

/// The queues of one parser thread, seen from the consumer.
struct Lane {
    done: Option<Receiver<Done>>,
    back: Sender<Parsed>,
}

/// A piece of more bytes than this is large enough to wait for the one before.
const GIANT: usize = 4 * BLOCK;

fn is_giant(piece: &Piece) -> bool {
    match &piece.body {
        Body::Text { len, .. } => *len > GIANT,
        Body::Block { head, .. } => head.len > GIANT,
        Body::Batch { .. } | Body::End | Body::Failed(_) => false,
    }
}

/// Pieces that may wait before and after each parser.
const DEPTH: usize = 4;

impl Engine {
    /// Starts at most as many parser threads as the machine can use.
    pub(crate) fn new(source: Source, spec: &Arc<Spec>, threads: usize) -> Self {
        let source = match threads::usable(threads) {
            1 => source,
            threads => match Threads::start(source, spec, threads) {
                Ok(threads) => return Engine::Threads(threads),
                Err(source) => *source,
            },
        };
        let parser = Parser::new(source.format(), spec.clone());
        let (buffer, shell) = (Vec::new(), Parsed::default());
        Engine::Here(Box::new(Here { source, parser, buffer, shell }))
    }

    /// The next parsed piece, in the order of the input.
    pub(crate) fn next(&mut self) -> Option<Done> {
        match self {
            Engine::Here(here) => {
                let piece = here.source.next(std::mem::take(&mut here.buffer))?;
                let (done, buffer) = here.parser.parse(piece, std::mem::take(&mut here.shell));
                here.buffer = buffer;
                Some(done)
            }
            Engine::Threads(threads) => threads.next(),
        }
    }

    /// Takes buffers back.
    pub(crate) fn give_back(&mut self, shell: Parsed) {
        // The memory of a giant row goes with it.
        if shell.chunks.iter().any(|chunk| chunk.capacity() > GIANT) {
            return;
        }
        match self {
            Engine::Here(here) => here.shell = shell,
            Engine::Threads(threads) => threads.give_back(shell),
        }
    }
}

impl Threads {
    /// Starts as many parser threads as the system allows, at most `threads`; the source comes back if it allows none.
    fn start(source: Source, spec: &Arc<Spec>, threads: usize) -> Result<Self, Box<Source>> {
        let format = source.format();
        let (spare_in, spare_out) = unbounded::<Vec<u8>>();
        // The cutter receives the source last: a thread that cannot start would take the source with it.
        let (hand_over, work) = bounded(1);
        let (giant_in, giant) = bounded(1);
        let cutter = thread::Builder::new().spawn(move || {
            if let Ok((source, inlets)) = work.recv() {
                cut(source, inlets, spare_out, &giant_in);
            }
        });
        let Ok(cutter) = cutter else { return Err(Box::new(source)) };
        let (mut lanes, mut handles, mut inlets) = (Vec::new(), vec![cutter], Vec::new());
        for _ in 0..threads {
            let (inlet, pieces) = bounded::<Piece>(DEPTH);
            let (finished, done) = bounded::<Done>(DEPTH);
            let (back, shells) = unbounded::<Parsed>();
            let (spec, spare_in) = (spec.clone(), spare_in.clone());
            let parser = thread::Builder::new().spawn(move || {
                let mut parser = Parser::new(format, spec);
                for piece in pieces {
                    let shell = shells.try_recv().unwrap_or_default();
                    let (done, buffer) = parser.parse(piece, shell);
                    // A closed queue means that the reader was dropped.
                    if buffer.len() <= GIANT {
                        let _ = spare_in.send(buffer);
                    }
                    if finished.send(done).is_err() {
                        return;
                    }
                }
            });
            let Ok(parser) = parser else { break };
            handles.push(parser);
            inlets.push(inlet);
            lanes.push(Lane { done: Some(done), back });
        }
        if lanes.is_empty() {
            return Err(Box::new(source));
        }
        match hand_over.send((source, inlets)) {
            Ok(()) => Ok(Self { turn: 0, lanes, handles, giant: Some(giant) }),
            Err(SendError((source, _))) => Err(Box::new(source)),
        }
    }

    fn next(&mut self) -> Option<Done> {
        let lane = &self.lanes[self.turn % self.lanes.len()];
        let done = lane.done.as_ref()?.recv().ok()?;
        if done.is_giant {
            let _ = self.giant.as_ref()?.try_recv();
        }
        self.turn += 1;
        Some(done)
    }

    /// To the lane that was read last.
    fn give_back(&self, shell: Parsed) {
        let lane = &self.lanes[(self.turn + self.lanes.len() - 1) % self.lanes.len()];
        let _ = lane.back.send(shell);
    }
}

/// Deals the pieces of the source to the parsers in turn.
fn cut(
    mut source: Source,
    inlets: Vec<Sender<Piece>>,
    spare: Receiver<Vec<u8>>,
    giant: &Sender<()>,
) {
    for inlet in inlets.iter().cycle() {
        let Some(piece) = source.next(spare.try_recv().unwrap_or_default()) else {
            return;
        };
        if is_giant(&piece) && giant.send(()).is_err() {
            return;
        }
        if inlet.send(piece).is_err() {
            return;
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // Closed queues end the parsers, whose closed queues end the cutter.
        self.giant = None;
        for lane in &mut self.lanes {
            lane.done = None;
        }
        for handle in self.handles.drain(..) {
            // INVARIANT: no bytes make a parser panic; if one did, `next` has seen its queue closed.
            let _ = handle.join();
        }
    }
}
