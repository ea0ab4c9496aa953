"use strict";
// Tables marked "sortable" sort by the button in a column's head; one with data-filter is narrowed by that input.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const key = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
  for (const button of table.querySelectorAll("thead button")) {
    const head = button.closest("th");
    button.disabled = false;
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("thead th[aria-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const rows = Array.from(body.rows);
      rows.sort((a, b) => {
        const [x, y] = [key(a, head.cellIndex), key(b, head.cellIndex)];
        const numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
        const order = numbers ? Number(x) - Number(y) : x.localeCompare(y, undefined, { numeric: true });
        return descending ? -order : order;
      });
      body.append(...rows);
    });
  }
}
for (const input of document.querySelectorAll("input[data-filter]")) {
  const table = document.getElementById(input.dataset.filter);
  const status = document.getElementById(input.dataset.filter + "-status");
  const rows = Array.from(table.tBodies[0].rows);
  const text = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  input.closest(".tools").hidden = false;
  const narrow = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => text.get(row).includes(word));
      shown += row.hidden ? 0 : 1;
    }
    status.textContent = shown + " of " + rows.length + " shown";
  };
  input.addEventListener("input", narrow);
  narrow();
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const range = document.createRange();
    range.selectNodeContents(document.getElementById(button.dataset.copy));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    try {
      await navigator.clipboard.writeText(getSelection().toString());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected: copy it with the keyboard";
    }
  });
}
