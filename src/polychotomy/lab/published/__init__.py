"""The published tables of the five papers, cell by cell, as printed.

Figures to compare one's own with, in one form for all papers. Printed values are kept even where
they look wrong; a note then says why.

Allwein, Schapire and Singer
    Errors are from ten-fold cross-validation where Table 1 has no test set. A cell without a value
    was printed as a dash.
El-Yaniv, Kotek, Pechyony and Yom-Tov (``sbc``), and El-Yaniv, Pechyony and Yom-Tov (``sbckernel``)
    As there. Of the figures, ``sbc`` has the values that its text gives. Data sets called ``all``
    are averages over those of the table. Differences are bounds of 90 % bootstrap intervals of the
    first method's error minus the second's.
Mills
    Values are means and spreads standard deviations of ten trials. The kernel of his SVM is not
    named; LIBSVM's default is RBF. Tables 10 and 11 do not say how the probabilities were solved
    for. ``brier_winning`` is for the probability of the winning class alone.
Tax and Duin
    Spreads are standard deviations of ten runs; the text speaks of ten-fold cross-validation, and
    Table 1 of fixed sizes. Where their ``digits``, of 256 features, come from is not said.

In the first three papers, the errors on a data set without test set are whole numbers of mistakes
in ten parts of ⌊n/10⌋ samples: what is left over was never tested. Which cells the papers print in
boldface, as the best, is not kept; the arrows of the bootstrap intervals are.
"""

from polychotomy.lab.published._tables import PublishedCell, Table, names, table

__all__ = ["PublishedCell", "Table", "names", "table"]
