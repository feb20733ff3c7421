//! `parsimon client`

mod bench;
mod connection;
mod replay;
mod rows;

use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::time::Duration;

use connection::{Answer, Connection};
use parsimon::data::Format;
use parsimon::workspace::number::thousands;
use rows::{Batch, Rows};
use serde_json::Value;

use crate::args::{
    AckArg, AckArgs, BatchArgs, ClientArgs, ClientCommand, LabelRowsArgs, LearnRowsArgs,
    ScoreRowsArgs, ServiceArgs,
};
use crate::console::{complain, note};
use crate::fault::Fault;
use crate::output::Output;

pub(crate) fn run(args: &ClientArgs) -> Result<(), Fault> {
    match &args.command {
        ClientCommand::Score(args) => score(args),
        ClientCommand::Learn(args) => learn(args),
        ClientCommand::Label(args) => label(args),
        ClientCommand::Bench(args) => bench::run(args),
        ClientCommand::Replay(args) => replay::run(args),
    }
}

fn score(args: &ScoreRowsArgs) -> Result<(), Fault> {
    let mut rows = Rows::open(&args.rows.file, args.rows.format)?;
    let mut sender = Sender::new(connect(&args.service)?, &args.batch, &rows);
    let mut out = Output::open(args.output.as_deref())?;
    let path = if args.explain { "score?explain" } else { "score" };
    while let Some(batch) = rows.batch(args.batch.batch)? {
        let answer = sender.send(path, &[], &batch)?;
        out.write_all(&answer.body)?;
    }
    out.finish()
}

fn learn(args: &LearnRowsArgs) -> Result<(), Fault> {
    let mut rows = Rows::open(&args.rows.file, args.rows.format)?;
    let sender = Sender::new(connect(&args.service)?, &args.batch, &rows);
    let mut learning = Learning::new(sender, &args.ack)?;
    if args.partial {
        learning.path += "&partial";
    }
    rows.skip_to(args.from)?;
    while let Some(batch) = rows.batch(args.batch.batch)? {
        if let Err(fault) = learning.send(&batch) {
            let first = batch.range().0;
            note(&format!(
                "{} rows before line {first} of {} are learned; go on with --from {first} --key {} --batch {}",
                thousands(learning.total.learned + learning.total.duplicates),
                rows.name(),
                // The rows of the request that was not answered may be in the log.
                learning.key,
                args.batch.batch
            ));
            return Err(fault);
        }
    }
    learning.total.report()
}

fn label(args: &LabelRowsArgs) -> Result<(), Fault> {
    let mut rows = Rows::open(&args.file, Some(Format::Jsonl))?;
    let mut sender = Sender::new(connect(&args.service)?, &args.batch, &rows);
    let mut total = Total::default();
    while let Some(batch) = rows.batch(args.batch.batch)? {
        let answer = sender.send("label", &[], &batch)?;
        total.add(&sender, &answer, &batch);
    }
    total.report()
}

/// The first pause before a request is sent again, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];

/// A connection for each address of the model.
fn connect(args: &ServiceArgs) -> Result<Vec<Connection>, Fault> {
    let one = |url: &str| {
        let (token_file, timeout) = (args.token_file.clone(), args.timeout);
        Connection::new(&ServiceArgs { url: url.trim().to_owned(), token_file, timeout })
    };
    args.url.split(',').map(one).collect()
}

/// Sends the batches of a file.
struct Sender {
    connections: Vec<Connection>,
    /// The address that answered last.
    at: usize,
    retries: u32,
    /// The name of the file, for messages.
    name: String,
    content_type: &'static str,
}

impl Sender {
    fn new(connections: Vec<Connection>, args: &BatchArgs, rows: &Rows) -> Self {
        let (name, content_type) = (rows.name().to_owned(), rows.content_type());
        Self { connections, at: 0, retries: args.retries, name, content_type }
    }

    /// Sends a batch; again, with pauses that grow, if the connection breaks or the service asks for it, and to the next address if
    /// there are several. Anything but success is an error that names the line of the file. A request that was learned although its
    /// answer was lost is not learned again: by its key, or by the ids of its rows.
    fn send(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        batch: &Batch,
    ) -> Result<Answer, Fault> {
        let mut headers = headers.to_vec();
        headers.push(("content-type", self.content_type));
        let (addresses, mut pause) = (self.connections.len(), PAUSES[0]);
        let mut left = self.retries as usize * addresses;
        for tried in 1.. {
            let connection = &mut self.connections[self.at];
            let mut asked = None;
            let fault = match connection.post(path, &headers, &batch.text) {
                Ok(answer) if answer.status == 200 => return Ok(answer),
                // A request whose rows were all refused one by one is reported like other requests.
                Ok(answer) if answer.status == 400 && answer.json()["refused"].is_array() => {
                    return Ok(answer);
                }
                Ok(answer) => {
                    asked = answer.retry_after;
                    // A follower takes no rows, and another address may be its leader.
                    let is_follower = addresses > 1 && answer.json()["leader"].is_string();
                    if !is_follower && !matches!(answer.status, 429 | 503) {
                        left = 0;
                    }
                    let words = self.placed(batch, &answer.json(), &answer.words());
                    Fault::Input(format!("{words} (status {})", answer.status))
                }
                Err(error) => connection.fault(&error),
            };
            if left == 0 {
                return Err(fault);
            }
            left -= 1;
            self.at = (self.at + 1) % addresses;
            // Every address is asked before the client waits.
            if tried % addresses == 0 {
                let asked = asked.map(|seconds| Duration::from_secs(seconds.min(60)));
                std::thread::sleep(asked.unwrap_or(pause));
                pause = (pause * 2).min(PAUSES[1]);
            }
        }
        unreachable!("the attempts are counted");
    }

    /// The words of a refusal, with the place in the file instead of that in the body.
    fn placed(&self, batch: &Batch, refusal: &Value, words: &str) -> String {
        let line = refusal["line"].as_u64();
        let (name, (first, last)) = (&self.name, batch.range());
        match line.and_then(|line| batch.line(line)) {
            Some(line) => {
                let rest = words.strip_prefix("body:").unwrap_or(words);
                let column = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                match rest.len() < words.len() && column.starts_with(':') {
                    true => format!("{name}:{line}{column}"),
                    false => format!("{name}:{line}: {words}"),
                }
            }
            None if first == last => format!("{name}:{first}: {words}"),
            None => format!("{name}, lines {first} to {last}: {words}"),
        }
    }
}

/// Batches on their way to be learned.
struct Learning {
    sender: Sender,
    path: String,
    key: String,
    requests: u64,
    total: Total,
}

impl Learning {
    fn new(sender: Sender, args: &AckArgs) -> Result<Self, Fault> {
        let ack = match args.ack {
            AckArg::Durable => "durable",
            AckArg::Logged => "logged",
            AckArg::Visible => "visible",
        };
        let key = match &args.key {
            Some(key) if key.is_empty() || !key.bytes().all(|b| b.is_ascii_graphic()) => {
                return Err(Fault::Usage("--key: expected one word of ASCII characters".into()));
            }
            Some(key) => key.clone(),
            // The keys of std's hash maps come from the system's source of randomness.
            None => format!("{:016x}", RandomState::new().hash_one(std::process::id())),
        };
        let path = format!("learn?ack={ack}");
        Ok(Self { sender, path, key, requests: 0, total: Total::default() })
    }

    /// Sends a batch. Its key makes a repeat harmless: after a lost connection, or after an answer that asks for one.
    fn send(&mut self, batch: &Batch) -> Result<(), Fault> {
        self.requests += 1;
        // By its first line, so that a run that goes on has other keys than the one before.
        let key = format!("{}-{}", self.key, batch.range().0);
        let answer = self.sender.send(&self.path, &[("idempotency-key", &key)], batch)?;
        self.total.add(&self.sender, &answer, batch);
        Ok(())
    }
}

/// Results for the rows of all requests.
#[derive(Debug, Default)]
struct Total {
    learned: u64,
    duplicates: u64,
    late: u64,
    refused: u64,
    seq: u64,
}

impl Total {
    fn add(&mut self, sender: &Sender, answer: &Answer, batch: &Batch) {
        let answer = answer.json();
        let none = Vec::new();
        let list = |name: &str| answer[name].as_array().unwrap_or(&none);
        self.learned += answer["learned"].as_u64().unwrap_or(0);
        let is_late = |row: &&Value| row["late"].as_bool() == Some(true);
        let late = list("duplicates").iter().filter(is_late).count() as u64;
        self.late += late;
        self.duplicates += list("duplicates").len() as u64 - late;
        self.seq = self.seq.max(answer["seq"].as_u64().unwrap_or(0));
        for refused in list("refused") {
            let words = refused["error"].as_str().unwrap_or_default();
            let mut refused = refused.clone();
            refused["line"] = refused["row"].clone();
            complain(&sender.placed(batch, &refused, words));
            self.refused += 1;
        }
    }

    /// Prints the counts. Refused rows are a failure of the command.
    fn report(&self) -> Result<(), Fault> {
        let mut words = format!("{} rows learned", thousands(self.learned));
        let more = [
            (self.duplicates, "learned before"),
            (self.late, "too late"),
            (self.refused, "refused"),
        ];
        for (count, what) in more.into_iter().filter(|(count, _)| *count > 0) {
            words += &format!(", {} {what}", thousands(count));
        }
        note(&format!("{words}; record {}", self.seq));
        match self.refused {
            0 => Ok(()),
            refused => Err(Fault::Input(format!("{} rows were refused", thousands(refused)))),
        }
    }
}
