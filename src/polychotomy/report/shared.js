// What all pages do: draw plots, sort tables, open everything for print.
const data = JSON.parse(document.getElementById("data").textContent);
const { plots } = data;
const views = {};
const byId = (id) => document.getElementById(id);

// Plots

const ink = { labelColor: "currentColor", titleColor: "currentColor" };
const config = {
  background: null,
  font: "system-ui, sans-serif",
  view: { stroke: null },
  axis: {
    ...ink, gridColor: "var(--rule)", domainColor: "var(--line)", tickColor: "var(--line)",
    labelLimit: 150, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
  },
  legend: { ...ink, labelFontSize: 12 },
  axisX: { labelFlush: false, labelOverlap: true },
};

async function draw(name) {
  const holder = document.querySelector(`[data-plot="${name}"]`);
  const figure = holder.closest("figure");
  const description = [...figure.querySelectorAll("figcaption, .about")].map((e) => e.textContent);
  const spec = { ...plots[name], description: description.join(". ") };
  const { view } = await vegaEmbed(holder, spec, {
    mode: "vega-lite", renderer: "svg", actions: false, ast: true, config,
    tooltip: { theme: "custom", disableDefaultStyle: true },
  });
  views[name] = view;
}

// Sorting by the column whose name is pressed

function sortable(table) {
  const headers = [...table.tHead.rows[0].cells];
  for (const header of headers) {
    header.querySelector("button").addEventListener("click", () => sortBy(table, header, headers));
  }
}

function sortBy(table, header, headers) {
  const body = table.tBodies[0];
  const column = headers.indexOf(header);
  const turn = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of headers) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
  const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const missing = (value) => value === "" || value === "—";
  const compare = (a, b) => {
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    const difference = Number(a) - Number(b);
    return turn * (Number.isNaN(difference) ? a.localeCompare(b) : difference);
  };
  body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b))));
}

addEventListener("beforeprint", () => {
  for (const closed of document.querySelectorAll("details")) closed.open = true;
});
