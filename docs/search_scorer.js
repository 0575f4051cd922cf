/* How the search ranks pages: guides first, then the API, evidence and lists of changes last. */
var Scorer = {
  score: ([docname, title, anchor, description, score]) => {
    const guide = /^(how-to\/|tutorial$|data$|many-classes$|shared-|single-binary$|saving$|streams$|cluster$|control-language$|limits$|project$|features$)/;
    const record = /^(changes|contributing|results|comparison|benchmarks|questions\/)/;
    return score + (guide.test(docname) ? 12 : record.test(docname) ? -12 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
