// The page of a reproduction: plots, and tables that can be sorted.
for (const table of document.querySelectorAll("table.sortable")) sortable(table);
await Promise.all(Object.keys(plots).map(draw));
document.documentElement.dataset.ready = "yes";
