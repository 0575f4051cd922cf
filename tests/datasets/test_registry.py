from pathlib import Path

import pytest

from polychotomy.datasets import PAPERS, available, load
from polychotomy.datasets._load import order_of

# The papers' own tables of data sets: training and test samples, features, classes.
TABLES = {
    "allwein": {  # Table 1
        "dermatology": (366, 0, 34, 6),
        "satimage": (4435, 2000, 36, 6),
        "glass": (214, 0, 9, 7),
        "segment": (2310, 0, 19, 7),
        "ecoli": (336, 0, 8, 8),
        "pendigits": (7494, 3498, 16, 10),
        "yeast": (1484, 0, 8, 10),
        "vowel": (528, 462, 10, 11),
        "soybean": (307, 376, 35, 19),
        "thyroid": (9172, 0, 29, 20),
        "audiology": (226, 0, 69, 24),
        "isolet": (6238, 1559, 617, 26),
        "letter": (16000, 4000, 16, 26),
    },
    "sbc": {  # Table 1
        "glass": (214, 0, 9, 7),
        "soybean": (307, 376, 35, 19),
        "satimage": (4435, 2000, 36, 6),
        "abalone": (3133, 1044, 8, 29),
        "optdigits": (3823, 1797, 64, 10),
        "car": (1728, 0, 6, 4),
        "spectrometer": (531, 0, 101, 48),
        "yeast": (1484, 0, 8, 10),
        "page-blocks": (5473, 0, 10, 5),
    },
    "sbckernel": {  # Table 1
        "car": (1728, 0, 6, 4),
        "page-blocks": (5473, 0, 10, 5),
        "iris": (150, 0, 4, 3),
        "wine": (178, 0, 13, 3),
        "vehicle": (846, 0, 18, 3),
    },
    "mills": {  # Table 2
        "letter": (20000, 0, 16, 26),
        "pendigits": (10992, 0, 16, 10),
        "usps": (9292, 0, 256, 10),
        "segment": (2310, 0, 19, 7),
        "satimage": (6435, 0, 36, 6),
        "urban": (675, 0, 147, 9),
        "shuttle": (58000, 0, 9, 7),
        "humidity": (8600, 0, 7, 8),
    },
    "tax-duin": {  # Table 1; halves and the like are drawn, and their digits are not public
        "vowel": (528, 462, 10, 11),
        "waveform": (300, 500, 21, 3),
        "vehicle": (846, 0, 18, 4),
        "crabs": (200, 0, 5, 4),
    },
}
# What differs in the files there are, and why, is in the notes of registry.toml.
DIFFERENT = {
    ("allwein", "glass"): (214, 0, 9, 6),
    ("allwein", "ecoli"): (336, 0, 7, 8),
    ("sbc", "glass"): (214, 0, 9, 6),
    ("sbc", "abalone"): (3133, 1044, 8, 28),
    ("sbckernel", "vehicle"): (846, 0, 18, 4),
    ("mills", "letter"): (20000, 0, 15, 26),
    ("mills", "usps"): (9298, 0, 256, 10),
    ("mills", "segment"): (2310, 0, 18, 7),
}
CASES = [(paper, name) for paper, table in TABLES.items() for name in table]


def size(samples):
    n_test = 0 if samples.test is None else len(samples.test)
    n, d = samples.data.shape
    return n - n_test, n_test, d, len(set(samples.target))


@pytest.mark.parametrize("paper", PAPERS)
def test_each_paper_s_data_sets_are_known(paper):
    assert {data.name for data in available() if paper in data.papers} == set(TABLES[paper])


@pytest.mark.parametrize(("paper", "name"), CASES)
def test_loaded_as_the_paper_has_it(paper, name, shared_data):
    samples = load(name, paper=paper)
    assert size(samples) == DIFFERENT.get((paper, name), TABLES[paper][name])


@pytest.mark.parametrize("known", available(), ids=lambda data: data.name)
def test_what_is_known_holds(known, shared_data):
    if known.name == "mnist":
        pytest.skip("55 million numbers: see the slow test")
    check(known)


@pytest.mark.slow
def test_what_is_known_of_mnist_holds(shared_data):
    check(next(data for data in available() if data.name == "mnist"))


def check(known):
    samples = load(
        known.name
    )  # a size other than the known one would warn, and warnings are errors
    assert size(samples)[1] == known.test
    assert sorted([*samples.data.index]) == list(range(known.samples))
    if known.test:
        assert list(samples.test) == list(range(known.samples - known.test, known.samples))
        assert list(samples.train) == list(range(known.samples - known.test))
    if known.test_order is not None:
        assert order_of(samples.target[samples.test]) == known.test_order
    assert known.summary in samples.DESCR
    assert known.note in samples.DESCR


@pytest.mark.parametrize(
    ("name", "n_nominal", "n_missing"),
    [
        ("abalone", 1, 0),
        ("audiology", 69, 317),
        ("car", 6, 0),
        ("dermatology", 0, 8),
        ("soybean", 35, 2337),
        ("spectrometer", 1, 0),
        ("thyroid", 22, 14629),
        ("letter", 0, 0),
    ],
)
def test_nominal_and_missing(name, n_nominal, n_missing, shared_data):
    samples = load(name)
    assert len(samples.nominal) == n_nominal
    assert all(samples.data[column].dtype == "category" for column in samples.nominal)
    assert int(samples.data.isna().sum().sum()) == n_missing


def test_mills_preparation(shared_data):
    whole, part = load("letter"), load("letter", paper="mills")
    assert list(part.data) == list(whole.data)[:15]
    assert part.train is None
    assert "region_pixel_count" not in load("segment", paper="mills").data
    whole, part = load("humidity"), load("humidity", paper="mills")
    assert (part.target == whole.target[-8600:]).all()
    assert (part.data.to_numpy() == whole.data.to_numpy()[-8600:]).all()


def test_every_data_set_has_its_facts():
    for data in available():
        assert data.summary
        assert data.samples > data.test >= 0
        assert set(data.papers) <= set(PAPERS)
        assert (data.test_order is not None) == (data.test > 0 and data.name != "waveform")
    assert [data.name for data in available()] == sorted(data.name for data in available())


def test_the_page_tells_the_same():
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{data.name}` | {data.samples} | {data.test or '–'} | {data.features} | {data.classes} "
        f"| {', '.join(data.papers) or '–'} | {data.summary} |"
        for data in available()
    ]
