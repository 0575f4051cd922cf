"""Reading the tables; the data are in the CSV files here, one for each paper."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import nan

from polychotomy.errors import unknown_name

_REFERENCES = {
    "allwein": "Allwein, Schapire and Singer (2000), Reducing multiclass to binary: a unifying "
    "approach for margin classifiers, JMLR 1, 113–141",
    "sbc": "El-Yaniv, Kotek, Pechyony and Yom-Tov, On multiclass classification via a single "
    "binary classifier, IBM Research Report",
    "sbckernel": "El-Yaniv, Pechyony and Yom-Tov (2006), Superior multi-class classification "
    "through a margin-optimized single binary problem, IBM Research Report",
    "mills": "Mills (2023), Solving for multi-class: a survey and synthesis",
    "tax-duin": "Tax and Duin, Using two-class classifiers for multiclass classification",
}

_TITLES = {
    "allwein-1": "The data sets",
    "allwein-2": "Test error of five codes and three decoders with AdaBoost",
    "allwein-3": "Test error of five codes and two decoders with a polynomial SVM of degree 4",
    "sbc-1": "The data sets",
    "sbc-2": "Test error of seven reductions with a tuned RBF SVM, and their average ranks",
    "sbc-3": "Bootstrap intervals of differences from SBC-BCH",
    "sbc-figure-2": "Test error of SBC with different codes on car, as far as the text gives it",
    "sbc-figure-3": "What subsampling the replicas costs SBC-BCH, as far as the text gives it",
    "sbckernel-1": "The data sets",
    "sbckernel-2": "Test error of seven reductions with a tuned RBF SVM, and their average ranks",
    "sbckernel-3": "Bootstrap intervals of differences from SBC-KERNEL",
    "mills-1": "Samples of each class of shuttle",
    "mills-2": "The data sets",
    "mills-4": "Training times, first four data sets",
    "mills-5": "Training times, last four data sets",
    "mills-6": "Classification times, first four data sets",
    "mills-7": "Classification times, last four data sets",
    "mills-8": "Uncertainty coefficients, first four data sets",
    "mills-9": "Uncertainty coefficients, last four data sets",
    "mills-10": "Brier scores, first four data sets",
    "mills-11": "Brier scores, last four data sets",
    "mills-12": "Brier scores of the winning classes, first four data sets",
    "mills-13": "Brier scores of the winning classes, last four data sets",
    "tax-duin-1": "The data sets",
    "tax-duin-2": "Errors and rejects of voting and of probabilities with three linear classifiers",
}


@dataclass(frozen=True)
class PublishedCell:
    """One printed figure.

    `paper`, `table`, `data_set`, `method` and `quantity` together name it.

    Attributes
    ----------
    paper, table : str
        The paper's short name, and the number, or ``"figure-2"``, within it.
    data_set : str
        In lower case, with one name for all papers: Mills' sat and Allwein's segmentation are
        ``"satimage"`` and ``"segment"``. ``"all"`` for an average over the table's data sets.
    method : str
        As printed, with the decoder, solution method or learner where a table has several; empty
        in tables of data sets. Two methods that are compared are joined by ``" vs. "``.
    quantity : str
        The quantity and its unit.
    value, spread : float
        As printed; NaN where nothing was printed.
    decimals : int
        Decimal places of `value` in print.
    base : str
        The binary learner: ``"adaboost"``, ``"svm_poly"`` (degree 4), ``"svm_rbf"``,
        ``"svm_linear"``, ``"lda"`` or ``"fisher"``.
    classifier, code, decoder, probability : str
        The method in this library's words, empty where the paper is silent or there is nothing to
        say: a class; what it takes as code, structure or extension; the rule that finds the class;
        and how probabilities are solved for. ``"SingleBinaryClassifier"`` with a decoder is the
        single-call scheme.
    mark : str
        For bounds of a difference, which of the two methods is marked as better: ``"first"``,
        ``"second"`` or neither.
    note : str
        Remarks on a printed value that looks wrong.
    """

    paper: str
    table: str
    data_set: str
    method: str
    quantity: str
    value: float
    spread: float
    decimals: int
    base: str
    classifier: str
    code: str
    decoder: str
    probability: str
    mark: str
    note: str

    @classmethod
    def without_value(
        cls, paper: str, table: str, data_set: str, method: str, quantity: str
    ) -> "PublishedCell":
        """Return a cell for something that the paper does not print."""
        names = (paper, table, data_set, method, quantity)
        return cls(*names, nan, nan, 0, *7 * ("",))


@dataclass(frozen=True)
class Table:
    """A published table.

    Attributes
    ----------
    name, title, reference : str
        Its name here, what it shows, and the paper.
    cells : tuple of PublishedCell
        Row by row; ``pandas.DataFrame(table.cells)`` has a column for each attribute.
    """

    name: str
    title: str
    reference: str
    cells: tuple[PublishedCell, ...]

    @property
    def remarks(self) -> tuple[PublishedCell, ...]:
        """The cells that carry a note."""
        return tuple(cell for cell in self.cells if cell.note)


def names() -> tuple[str, ...]:
    """Return the names that :func:`table` knows.

    Examples
    --------
    >>> from polychotomy.lab import published
    >>> published.names()[:3]
    ('allwein-1', 'allwein-2', 'allwein-3')
    """
    return tuple(_TITLES)


def table(name: str) -> Table:
    """Return a published table.

    Parameters
    ----------
    name : str
        One of :func:`names`: paper and number.

    Examples
    --------
    >>> from polychotomy.lab import published
    >>> table = published.table("sbc-2")
    >>> table.title
    'Test error of seven reductions with a tuned RBF SVM, and their average ranks'
    >>> cell = next(c for c in table.cells if c.data_set == "car" and c.code == "one_vs_rest")
    >>> cell.method, cell.quantity, cell.value
    ('OVA', 'error_percent', 1.1)
    >>> [(c.data_set, c.method, c.value, c.note) for c in table.remarks]
    [('spectrometer', 'ECOC', 53.07, 'No multiple of 1/530, as the other errors ...')]
    """
    if not isinstance(name, str) or name not in _TITLES:
        raise unknown_name("name", name, _TITLES)
    paper = next(paper for paper in _REFERENCES if name.startswith(f"{paper}-"))
    cells = tuple(cell for cell in _read(paper) if f"{paper}-{cell.table}" == name)
    return Table(name, _TITLES[name], _REFERENCES[paper], cells)


@cache
def _read(paper: str) -> tuple[PublishedCell, ...]:
    text = files(__name__.rpartition(".")[0]).joinpath(f"{paper}.csv").read_text(encoding="utf-8")
    return tuple(_cell(row) for row in csv.DictReader(text.splitlines()))


def _cell(row: dict[str, str]) -> PublishedCell:
    value, spread = row.pop("value"), row.pop("spread")
    return PublishedCell(
        **row,
        value=float(value) if value else nan,
        spread=float(spread) if spread else nan,
        decimals=len(value.partition(".")[2]),
    )
