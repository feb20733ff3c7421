{
  const table = document.currentScript.previousElementSibling.querySelector("table");
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  // Cells without a value, such as those of runs that failed, stay last in either direction.
  const sort = (column, sign) => {
    const value = row => row.cells[column].dataset.value;
    const number = row => value(row) === undefined ? Infinity : sign * value(row);
    const isText = [...body.rows].every(row => value(row) === undefined);
    const text = row => row.cells[column].textContent;
    const order = isText ? (a, b) => sign * text(a).localeCompare(text(b)) : (a, b) => number(a) - number(b) || 0;
    body.append(...[...body.rows].sort(order));
  };
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      const up = head.ariaSort !== "ascending";
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = up ? "ascending" : "descending";
      sort(column, up ? 1 : -1);
    });
    head.append(button);
  });
}
