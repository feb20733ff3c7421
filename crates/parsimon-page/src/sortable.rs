//! A table of numbers that its reader can sort, and that fits on a phone.

use maud::{Markup, PreEscaped, Render, html};

use crate::element::{breakable, wide};

/// Makes the headings of the table before it buttons. Without scripts the table stays as it was written.
const SCRIPT: &str = include_str!("sortable.js");

/// A table whose rows can be sorted by any column. Narrow windows leave out the minor columns.
///
/// ```
/// use maud::Render;
/// use parsimon_page::{Cell, SortableTable};
///
/// let table = SortableTable::new()
///     .column("method")
///     .minor_column("seconds")
///     .row("best", [Cell::text("ftrl"), Cell::number("1.5 s", Some(1.5))]);
/// let page = table.render().into_string();
/// assert!(page.contains("<tr class=\"best\"><td>ftrl</td><td class=\"minor\" data-value=\"1.5\">1.5 s</td></tr>"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SortableTable {
    columns: Vec<Column>,
    rows: Vec<(String, Vec<Cell>)>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    is_minor: bool,
}

/// A cell: what is written, and the number it is sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    text: String,
    value: Option<f64>,
}

impl Cell {
    /// A text, sorted by its letters.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None }
    }

    /// A number: its text and its value, by which rows are sorted. Cells without a number come last.
    pub fn number(text: impl Into<String>, value: Option<f64>) -> Self {
        Self { text: text.into(), value: value.filter(|value| value.is_finite()) }
    }

    /// Text of the cell.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl SortableTable {
    /// A table without columns and rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>) -> Self {
        self.columns.push(Column { name: name.into(), is_minor: false });
        self
    }

    /// Adds a column that narrow windows leave out.
    #[must_use]
    pub fn minor_column(mut self, name: impl Into<String>) -> Self {
        self.columns.push(Column { name: name.into(), is_minor: true });
        self
    }

    /// Adds a row with the class that styles it.
    #[must_use]
    pub fn row(mut self, class: &str, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push((class.to_owned(), cells.into_iter().collect()));
        self
    }
}

impl Render for SortableTable {
    fn render(&self) -> Markup {
        let class = |column: &Column| column.is_minor.then_some("minor");
        let table = html! {
            table class="runs" {
                "\n"
                thead {
                    tr { @for column in &self.columns { th scope="col" class=[class(column)] { (column.name) } } }
                }
                "\n"
                tbody {
                    "\n"
                    @for (style, cells) in &self.rows {
                        tr class=[Some(style).filter(|style| !style.is_empty())] {
                            @for (column, cell) in self.columns.iter().zip(cells) {
                                td class=[class(column)] data-value=[cell.value] { (breakable(&cell.text)) }
                            }
                        }
                        "\n"
                    }
                }
                "\n"
            }
            "\n"
        };
        let minor = self.columns.iter().filter(|column| column.is_minor).count();
        html! {
            (wide(table))
            script { "\n" (PreEscaped(SCRIPT)) }
            "\n"
            @if minor > 0 {
                p class="how phone" {
                    "A wider window shows " (minor) " more column" @if minor > 1 { "s" } "."
                }
                "\n"
            }
        }
    }
}
