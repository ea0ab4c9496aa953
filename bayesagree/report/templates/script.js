"use strict";
// Tables marked "sortable" sort by the button in a column's head; one with data-filter is narrowed by that input.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  // "0.86 (0.80 to 0.91)", "> 0.999" and "13 %" are sorted by their first number.
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim();
    return row.cells[column].classList.contains("n") ? (/-?\d[\d\u202f]*\.?\d*/.exec(text)?.[0].replaceAll("\u202f", "") ?? "") : text;
  };
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
        const order = numbers ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true });
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
// Paper has everything.
const unfold = (parts) => parts.forEach((part) => { part.open = true; });
addEventListener("beforeprint", () => unfold(document.querySelectorAll("details")));

const press = (text, action, place) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tool";
  button.textContent = text;
  button.addEventListener("click", () => action(button));
  place.append(" ", button);
};
const save = (name, content) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const asText = (type, text) => new Blob([text], { type: type + ";charset=utf-8" });
const quoted = (text) => (/[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
// What a spreadsheet would compute has an apostrophe before it; a signed number, also before an interval, is none.
const formula = /^([=@\t\r]|[+-](?![\d.,]*([eE][+-]?\d+)?( \([-+\d.,]+ to [-+\d.,]+\))?$))/;
const inert = (cell) => (typeof cell === "string" && formula.test(cell) ? "'" + cell : String(cell ?? ""));
const asCsv = (rows) => rows.map((row) => row.map((cell) => quoted(inert(cell))).join(",")).join("\r\n") + "\r\n";
const copy = async (button, node, text) => {
  getSelection().selectAllChildren(node);
  try {
    await navigator.clipboard.writeText(text ?? getSelection().toString());
    button.textContent = "Copied";
  } catch {
    button.textContent = "Selected: copy it with the keyboard";
  }
};

const cells = (table) => Array.from(table.rows, (row) => Array.from(row.cells, (cell) => cell.innerText.trim().replace(/\s+/g, " ")));
for (const table of document.querySelectorAll("table[id]")) {
  const tools = document.createElement("span");
  tools.className = "tools";
  table.caption.append(" ", tools);
  press("Copy", (button) => copy(button, table, cells(table).map((row) => row.join("\t")).join("\n")), tools);
  press("CSV", () => save(table.id + ".csv", asText("text/csv", asCsv(cells(table)))), tools);
}

const methods = document.getElementById("methods-text");
for (const button of document.querySelectorAll("#methods button.plain")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button, methods));
}
