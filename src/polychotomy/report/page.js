// Everything that moves on the page of a comparison. Names from the data become text, never markup.
const { details } = data;
const methodNames = JSON.parse(document.getElementById("method-names").textContent);

function element(tag, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const percent = (share, digits = 2) => `${(100 * share).toFixed(digits)} %`;
const nameOf = (text) => element("span", { text, className: "name", dir: "auto", title: text });
const longText = (text) => element("span", { text, className: "long", dir: "auto" });

// One method, everywhere

let selected = null;

async function drawMethods(name) {
  await draw(name);
  views[name].addEventListener("click", (_, item) => {
    const index = methodNames.indexOf(item?.datum?.method);
    if (index >= 0) select(index);
  });
}

function select(index) {
  selected = index === selected ? null : index;
  for (const button of document.querySelectorAll("button.method")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.method) === selected));
  }
  for (const row of document.querySelectorAll("#comparison tbody tr")) {
    const own = Number(row.dataset.method) === selected;
    row.classList.toggle("selected", own);
    row.classList.toggle("dimmed", selected !== null && !own);
  }
  byId("clear").hidden = selected === null;
  for (const [name, view] of Object.entries(views)) {
    if (!ofMethod.includes(name)) view.signal("method", selected === null ? null : methodNames[selected]).runAsync();
  }
}

for (const button of document.querySelectorAll("button.method")) {
  button.addEventListener("click", () => select(Number(button.dataset.method)));
}
byId("clear")?.addEventListener("click", () => select(selected));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && selected !== null) select(selected);
});

// The table: sorting and filtering

const comparison = byId("comparison"); // null where a single method is shown

function filter() {
  const dataSet = byId("data-set")?.value ?? "0";
  let count = 0;
  for (const row of comparison.tBodies[0].rows) {
    const group = row.dataset.set;
    row.hidden = dataSet === "each" ? group === "-1" : group !== dataSet;
    count += !row.hidden;
  }
  for (const cell of comparison.querySelectorAll('[data-column="data_set"]')) {
    cell.hidden = dataSet !== "each";
  }
  byId("count").textContent = `${count} ${count === 1 ? "row" : "rows"}`;
}

function chooseMeasure() {
  const measure = byId("measure").value;
  for (const cell of comparison.querySelectorAll("[data-measure]")) {
    cell.hidden = measure !== "" && cell.dataset.measure !== measure;
  }
  const options = [...byId("measure").options];
  const { value: shown, textContent: name } = options.find((o) => o.value && o.value === measure) ?? options[1];
  const caption = document.querySelector('[data-plot="measure"]').closest("figure").firstElementChild;
  caption.dataset.base ??= caption.textContent;
  caption.textContent = `${name}, ${caption.dataset.base.toLowerCase()}`;
  views.measure?.signal("measure", shown).runAsync();
}

byId("data-set")?.addEventListener("change", filter);
byId("measure")?.addEventListener("change", chooseMeasure);

// The chosen model on one data set

const ofMethod = ["reliability", "reject"];
let detail = details[0];

function table(caption, heads, rows) {
  const head = element("tr", {}, ...heads.map(({ text, className }) =>
    element("th", { text, className, scope: "col" })));
  return element(
    "table", {}, element("caption", {}, element("span", { text: caption })), element("thead", {}, head),
    element("tbody", {}, ...rows),
  );
}

function showPairs() {
  const { n_samples, n_wrong, pairs } = detail;
  byId("errors").textContent =
    `${n_wrong} of ${n_samples} predictions are wrong (${percent(n_wrong / n_samples)}).`;
  const told = pairs.some((pair) => "problems" in pair);
  const rows = pairs.map((pair) => {
    const parted = pair.problem ?? `${pair.problems} problems`;
    return element(
      "tr", {},
      element("th", { scope: "row" }, nameOf(pair.truth)),
      element("td", { className: "words" }, nameOf(pair.predicted)),
      element("td", { text: String(pair.count) }),
      element("td", { text: percent(pair.share, 0) }),
      ...(told ? [element("td", { className: "words" }, longText(parted))] : []),
    );
  });
  const heads = [
    { text: "Class" }, { text: "Was taken for", className: "words" }, { text: "Samples" },
    { text: "Of all errors" },
  ];
  if (told) heads.push({ text: "The two are parted by", className: "words" });
  byId("pairs").hidden = !pairs.length;
  byId("pairs").replaceChildren(table("The most frequent confusions", heads, rows));
}

function showConfusion() {
  const { classes, confusion, totals, n_classes } = detail;
  const rows = confusion.map((counts, i) =>
    element(
      "tr", {},
      element("th", { scope: "row" }, nameOf(classes[i])),
      ...counts.map((count, j) => {
        const share = totals[i] ? count / totals[i] : 0;
        const strength = count ? (i === j ? 0.45 * share : 0.15 + 0.85 * Math.sqrt(share)) : 0;
        const colour = `rgba(var(--${i === j ? "good" : "heat"}), ${strength.toFixed(3)})`;
        const cell = element("td", { text: count ? String(count) : "", className: "heat" });
        cell.style.background = colour;
        cell.title = `${classes[i]} → ${classes[j]}: ${count} (${percent(share, 1)} of its row)`;
        return cell;
      }),
    ),
  );
  const cut = classes.length < n_classes
    ? `, the ${classes.length} of ${n_classes} classes that are most often confused` : "";
  const made = table(`A row for each true class, a column for each prediction${cut}`, [], rows);
  made.className = "matrix";
  made.tHead.rows[0].append(
    element("th", { text: "True class", scope: "col" }),
    ...classes.map((name) => element("th", { scope: "col" }, nameOf(name))),
  );
  byId("confusion").replaceChildren(made);
}

function showClasses() {
  const share = (value) => (value === null ? "—" : percent(value));
  const rows = detail.classes.map((name, i) => element(
    "tr", {},
    element("th", { scope: "row" }, nameOf(name)),
    element("td", { text: String(detail.totals[i]) }),
    element("td", { text: share(detail.precision[i]) }),
    element("td", { text: share(detail.recall[i]) }),
  ));
  const heads = [{ text: "Class" }, { text: "Samples" }, { text: "Precision" }, { text: "Recall" }];
  const caption = "Precision: of the predictions of a class, those that are right. Recall: of its samples, those that are found.";
  byId("per-class").replaceChildren(table(caption, heads, rows));
}

async function showProbabilities() {
  const { calibration, reject } = detail;
  byId("with-probabilities").hidden = !calibration;
  byId("without-probabilities").hidden = Boolean(calibration);
  if (!calibration) return;
  const { predicted, observed, counts, error } = calibration;
  const points = predicted.map((p, i) => ({ predicted: p, observed: observed[i], count: counts[i] }));
  plots.reliability.data.values = points;
  byId("about-reliability").textContent =
    `On average the probability of the winning class is ${(100 * error).toFixed(1)} points from ` +
    "how often it is right. Below the diagonal it is too sure, above it too careful. " +
    "Larger points stand for more samples.";
  const curve = reject.threshold.map((threshold, i) => ({
    threshold, rejected: 1 - reject.coverage[i], error: reject.error[i],
  }));
  plots.reject.data.values = curve;
  plots.reject.layer[1].data.values = curve.slice(0, 1);
  byId("threshold").max = String(curve.length - 1);
  byId("threshold").value = "0";
  await Promise.all(ofMethod.map(drawMethods));
  moveThreshold();
}

function moveThreshold() {
  const { reject, n_samples } = detail;
  const i = Number(byId("threshold").value);
  const [threshold, coverage, error] = ["threshold", "coverage", "error"].map((k) => reject[k][i]);
  const accepted = Math.round(coverage * n_samples);
  // Rounded down, so that the samples at the threshold are accepted with the number shown, too.
  const shown = (Math.floor(threshold * 1e4) / 1e4).toFixed(4);
  byId("threshold-value").textContent = shown;
  const said =
    `${percent(coverage, 1)} of the samples get an answer (${accepted} of ${n_samples}), and ` +
    `${percent(error)} of the answers are wrong (${Math.round(error * accepted)}). ` +
    `Without rejecting, ${percent(reject.error[0])} are.`;
  byId("rejected").textContent = said;
  byId("threshold").setAttribute("aria-valuetext", `${shown}: ${said}`);
  views.reject.data("marker", [{ threshold, rejected: 1 - coverage, error }]).runAsync();
}

function showDetail() {
  detail = details[Number(byId("detail")?.value ?? 0)];
  showPairs();
  showClasses();
  showConfusion();
  return showProbabilities();
}

byId("detail")?.addEventListener("change", showDetail);
byId("threshold").addEventListener("input", moveThreshold);

if (comparison) {
  sortable(comparison);
  filter();
}
await Promise.all(Object.keys(plots).filter((name) => !ofMethod.includes(name)).map(drawMethods));
if (comparison) chooseMeasure();
await showDetail();
document.documentElement.dataset.ready = "yes";
