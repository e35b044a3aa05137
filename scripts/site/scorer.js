/* scorer.js: which results of the search come first. Sphinx calls many pages equal, and sorts these by name: here
 * documents come before trainers, references, and what only developers read. A part of an option's name, or a small part
 * of a C name, is hardly a hit. */
var Scorer = {
  score: ([page, , , , score, , kind]) => {
    if (kind === "index" && score < (/^leat(-bench)?\//.test(page) ? 100 : 60)) score = 1;
    if (/^(CHANGELOG|CONTRIBUTING|bench)/.test(page)) return score;
    return score + (/^docs\/trainers/.test(page) ? 0.2 : /^(docs\/[a-z]|python)/.test(page) ? 0.3 : 0.1);
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2, // Sphinx's own
};
