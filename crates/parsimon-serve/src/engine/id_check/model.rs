//! A model of the table of ids: states and events, written from the documentation. It uses nothing of the engine.
//!
//! Rows are numbers: row `r` of an id is readable or not, and has the content `r`. An event gives what the client is answered and the
//! states of the table after each record of the log, in order, so that a crash may leave any of them.

use std::collections::BTreeMap;

/// A row that is scored or learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) content: u8,
    /// Whether the row can be learned once it has a label.
    pub(super) is_readable: bool,
}

/// The state of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Scored {
        row: Row,
        order: u64,
        since: u64,
    },
    Learned {
        content: u8,
        label: u8,
    },
    Labelled {
        content: u8,
        label: u8,
    },
    Expired {
        content: u8,
    },
    /// `None` if the window ended without a label.
    SetAside {
        label: Option<u8>,
    },
}

/// The answer to a label or to a row with its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Learned,
    SetAside,
    Duplicate,
    Late,
    Conflict,
    Unknown,
}

/// The table. Labels that came late are not learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) ids: BTreeMap<u8, State>,
    /// Every row that was learned, in order: id, content, label.
    pub(super) learned: Vec<(u8, u8, u8)>,
    order: u64,
    places: usize,
    window: u64,
    default: u8,
}

/// The states after each record of an event.
pub(super) type Steps = Vec<Model>;

impl Model {
    pub(super) fn new(places: usize, window: u64, default: u8) -> Self {
        let (ids, learned) = (BTreeMap::new(), Vec::new());
        Self { ids, learned, order: 0, places, window, default }
    }

    /// The ids that wait, oldest first.
    pub(super) fn waiting(&self) -> Vec<u8> {
        let mut waiting: Vec<(u64, u8)> = self
            .ids
            .iter()
            .filter_map(|(id, state)| match state {
                State::Scored { order, .. } => Some((*order, *id)),
                _ => None,
            })
            .collect();
        waiting.sort_unstable();
        waiting.into_iter().map(|(_, id)| id).collect()
    }

    /// A row is scored with an id at a time. Returns whether its label is expected or has arrived.
    pub(super) fn score(&mut self, id: u8, row: Row, now: u64) -> (bool, Steps) {
        if let Some(state) = self.ids.get(&id) {
            return (!matches!(state, State::SetAside { .. }), Vec::new());
        }
        let mut steps = Vec::new();
        if let Some(oldest) = self.waiting().first().filter(|_| self.waiting().len() >= self.places)
        {
            self.ids.remove(oldest);
            steps.push(self.clone());
        }
        self.order += 1;
        self.ids.insert(id, State::Scored { row, order: self.order, since: now });
        steps.push(self.clone());
        (true, steps)
    }

    /// A row comes with its label.
    pub(super) fn learn(&mut self, id: u8, content: u8, label: u8) -> (Answer, Steps) {
        match self.ids.get(&id) {
            None | Some(State::Scored { .. } | State::SetAside { .. }) => {
                self.ids.insert(id, State::Learned { content, label });
                self.learned.push((id, content, label));
                (Answer::Learned, vec![self.clone()])
            }
            Some(
                State::Learned { content: c, label: l } | State::Labelled { content: c, label: l },
            ) => {
                let is_same = (*c, *l) == (content, label);
                (if is_same { Answer::Duplicate } else { Answer::Conflict }, Vec::new())
            }
            Some(State::Expired { content: c }) => {
                let is_same = (*c, self.default) == (content, label);
                (if is_same { Answer::Duplicate } else { Answer::Conflict }, Vec::new())
            }
        }
    }

    /// A label comes for an id.
    pub(super) fn label(&mut self, id: u8, label: u8) -> (Answer, Steps) {
        match self.ids.get(&id).copied() {
            None => (Answer::Unknown, Vec::new()),
            Some(State::Scored { row, .. }) if row.is_readable => {
                self.ids.insert(id, State::Labelled { content: row.content, label });
                self.learned.push((id, row.content, label));
                (Answer::Learned, vec![self.clone()])
            }
            Some(State::Scored { .. }) => {
                self.ids.insert(id, State::SetAside { label: Some(label) });
                (Answer::SetAside, vec![self.clone()])
            }
            Some(
                State::Learned { label: l, .. }
                | State::Labelled { label: l, .. }
                | State::SetAside { label: Some(l) },
            ) => (if l == label { Answer::Duplicate } else { Answer::Conflict }, Vec::new()),
            Some(State::SetAside { label: None }) => (Answer::Duplicate, Vec::new()),
            Some(State::Expired { .. }) => (Answer::Late, Vec::new()),
        }
    }

    /// The windows that have ended at a time: rows that can be learned are, in order; then the others are set aside.
    pub(super) fn expire(&mut self, now: u64) -> Steps {
        let mut steps = Vec::new();
        let over: Vec<(u8, Row)> = self
            .waiting()
            .into_iter()
            .filter_map(|id| match self.ids[&id] {
                State::Scored { row, since, .. } if since + self.window <= now => Some((id, row)),
                _ => None,
            })
            .collect();
        let (readable, other): (Vec<_>, Vec<_>) =
            over.into_iter().partition(|(_, row)| row.is_readable);
        for (id, row) in &readable {
            self.ids.insert(*id, State::Expired { content: row.content });
            self.learned.push((*id, row.content, self.default));
        }
        if !readable.is_empty() {
            steps.push(self.clone());
        }
        for (id, _) in &other {
            self.ids.insert(*id, State::SetAside { label: None });
        }
        if !other.is_empty() {
            steps.push(self.clone());
        }
        steps
    }
}
