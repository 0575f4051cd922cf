"""The page in a real browser: Debian's packages ``chromium`` and ``chromium-driver``."""

import json
import shutil

import numpy as np
import pytest

from polychotomy.report import write_report, write_reproduction
from tests.lab.experiments.tiny import make_figure, make_tiny
from tests.report.cells import random_cells
from tests.report.test_report import HOSTILE

webdriver = pytest.importorskip("selenium.webdriver", reason="needs Selenium")
pytest.importorskip("jinja2", reason="needs the extra 'report'")
pytest.importorskip("vl_convert", reason="needs the extra 'report'")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="there is no Chromium with its driver on this machine",
    ),
]
# Works for root and in small containers, and asks no server for updates or suggestions.
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1100,900",
)
ERRORS = {"bch": 0.1, "one_vs_one": 0.12, "one_vs_rest": 0.35, "exhaustive": 0.15}


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(CHROMEDRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pages: of one data set, of three, of names that try to break out; a reproduction."""
    folder, rng = tmp_path_factory.mktemp("pages"), np.random.default_rng(3)
    write_report(random_cells(rng, ERRORS, n_folds=3), folder / "one.html")
    several = [c for d in ("iris", "wine", "glass") for c in random_cells(rng, ERRORS, data_set=d)]
    write_report(several, folder / "several.html")
    write_report(random_cells(rng, {"bch": 0.1}), folder / "alone.html")
    errors = dict(zip(HOSTILE, np.linspace(0.1, 0.4, len(HOSTILE)), strict=True))
    hostile = [
        cell
        for name in HOSTILE
        for cell in random_cells(
            rng, errors, data_set=name, classes=HOSTILE, n_classes=len(HOSTILE)
        )
    ]
    write_report(hostile, folder / "hostile.html", title=HOSTILE[0])
    figures = [
        make_figure("iris", "OVA", 6.0, 5.0),
        make_figure("wine", "OVA", 7.0, 9.0, agrees=False),
        make_figure(HOSTILE[0], HOSTILE[0], 8.0, 6.0, agrees=None),
    ]
    write_reproduction(figures, [make_tiny()], folder / "reproduction.html")
    return folder


@pytest.fixture
def opened(browser, folder):
    """Return a function that opens a page; afterwards, nothing was fetched or complained of."""

    def open_page(name, *, width=1100, dark=False):
        for log in ("browser", "performance"):
            browser.get_log(log)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        browser.get((folder / f"{name}.html").as_uri())
        WebDriverWait(browser, 30).until(
            lambda b: b.execute_script("return document.documentElement.dataset.ready")
        )
        return browser

    yield open_page
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    assert all(url.startswith(("file:", "data:,")) for url in asked)


def _all(page, selector):
    return page.find_elements(By.CSS_SELECTOR, selector)


def _one(page, selector):
    return page.find_element(By.CSS_SELECTOR, selector)


def test_the_page_of_a_single_model(opened):
    """It shows the confusions and the plots of the model, and compares nothing."""
    page = opened("alone")
    assert "predictions are wrong" in _one(page, "#errors").text
    assert _all(page, "#confusion table")
    assert _all(page, '[data-plot="reject"] svg')
    assert not _all(page, "#comparison, #plots, #sure")


def _column(page, name):
    """Return the texts of a column of the table, as far as rows are shown."""
    return page.execute_script(
        """const heads = [...document.querySelectorAll("#comparison thead th")];
        const column = heads.findIndex((head) => head.dataset.column === arguments[0]);
        return [...document.querySelectorAll("#comparison tbody tr")]
          .filter((row) => !row.hidden).map((row) => row.cells[column].textContent.trim());""",
        name,
    )


def _wait(page, condition):
    WebDriverWait(page, 10).until(lambda _: condition())


def test_no_column_is_cut_at_1280_pixels(opened):
    page = opened("one", width=1280)
    widths = page.execute_script(
        "const place = document.querySelector('#comparison').parentElement;"
        "return [place.scrollWidth, place.clientWidth];"
    )
    assert widths[0] <= widths[1]


@pytest.mark.parametrize("width", [1280, 500])
@pytest.mark.parametrize("name", ["one", "several"])
def test_labels_of_ticks_do_not_touch(opened, name, width):
    page = opened(name, width=width)
    gaps = page.execute_script(
        """const gaps = [];
        for (const axis of document.querySelectorAll(".role-axis-label")) {
          const shown = [...axis.querySelectorAll("text")]
            .filter((label) => label.getAttribute("opacity") !== "0")
            .map((label) => label.getBoundingClientRect());
          for (const a of shown) for (const b of shown) {
            const beside = a.top < b.bottom && b.top < a.bottom;
            if (a.left < b.left && beside) gaps.push(b.left - a.right);
          }
        }
        return gaps;"""
    )
    assert len(gaps) > 10
    assert min(gaps) >= 3


@pytest.mark.parametrize("name", ["one", "several", "hostile"])
@pytest.mark.parametrize("width", [1100, 380])
@pytest.mark.parametrize("dark", [False, True])
def test_every_plot_is_drawn_and_nothing_is_wider_than_the_page(opened, name, width, dark):
    page = opened(name, width=width, dark=dark)
    plots = _all(page, ".plot")
    assert len(plots) == 5
    for plot in plots:
        svg = plot.find_element(By.TAG_NAME, "svg")
        assert svg.size["width"] <= width
        assert svg.get_attribute("aria-label") or svg.find_elements(By.CSS_SELECTOR, "[aria-label]")
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    paper = _one(page, "body").value_of_css_property("background-color")
    assert paper == ("rgba(22, 24, 29, 1)" if dark else "rgba(255, 255, 255, 1)")


def test_sorting(opened):
    page = opened("one")
    head = _one(page, '#comparison [data-column="error"]')
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    errors = [float(value) for value in _column(page, "error")]
    assert errors == sorted(errors)
    assert len(_all(page, "#comparison [aria-sort]")) == 1
    head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending"
    assert [float(value) for value in _column(page, "error")] == sorted(errors, reverse=True)
    _one(page, '#comparison [data-column="method"] button').send_keys(Keys.SPACE)
    assert _column(page, "method") == sorted(ERRORS)


def test_filtering(opened):
    page = opened("several")
    assert len(_column(page, "method")) == 4
    assert not _one(page, '#comparison thead [data-column="data_set"]').is_displayed()
    Select(_one(page, "#data-set")).select_by_visible_text("wine")
    assert _column(page, "data_set") == ["wine"] * 4
    assert _one(page, "#count").text == "4 rows"
    Select(_one(page, "#data-set")).select_by_value("each")
    assert sorted(_column(page, "data_set")) == sorted(["iris", "wine", "glass"] * 4)
    Select(_one(page, "#measure")).select_by_value("fit_seconds")
    shown = [head.text for head in _all(page, "#comparison thead th") if head.is_displayed()]
    assert [name.replace("\n", " ").split(" (")[0] for name in shown][-1] == "Training"
    assert not any("Error" in name for name in shown)
    caption = _one(page, '[data-plot="measure"]').find_element(By.XPATH, "../figcaption")
    assert caption.text == "Training (s), by data set"


def _opacities(page, plot):
    return [
        float(mark.get_attribute("opacity") or 1)
        for mark in _all(page, f'[data-plot="{plot}"] .mark-symbol path')
    ]


def test_a_selected_method_stands_out_everywhere(opened):
    page = opened("one")
    chip = _one(page, '.chips [data-method="1"]')
    chip.send_keys(Keys.ENTER)
    for plot in ("sure", "measure", "cost"):
        _wait(page, lambda plot=plot: min(_opacities(page, plot)) < 0.2)
        bright = sum(opacity == 1 for opacity in _opacities(page, plot))
        assert bright == (3 if plot == "measure" else 1)
    assert chip.get_attribute("aria-pressed") == "true"
    rows = _all(page, "#comparison tr.selected")
    assert [row.get_attribute("data-method") for row in rows] == ["1"]
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert _all(page, "#comparison tr.selected") == []
    _wait(page, lambda: min(_opacities(page, "cost")) == 1)
    mark = _all(page, '[data-plot="cost"] .mark-symbol path')[2]
    ActionChains(page).scroll_to_element(_one(page, '[data-plot="cost"]')).perform()
    ActionChains(page).move_to_element(mark).click().perform()
    assert len(_all(page, '.chips [aria-pressed="true"]')) == 1
    _one(page, "#clear").click()
    assert _all(page, '.chips [aria-pressed="true"]') == []


def test_a_method_keeps_its_colour(opened):
    page = opened("one")
    colour = page.execute_script(
        """const swatch = document.querySelector('.chips [data-method="3"] .swatch');
        const marks = document.querySelectorAll('[data-plot="cost"] .mark-symbol path');
        return [getComputedStyle(swatch).backgroundColor,
                ...[...marks].map((mark) => getComputedStyle(mark).fill)];"""
    )
    assert colour[0] in colour[1:]
    assert colour[0] == "rgb(0, 0, 0)"
    assert len(set(colour[1:])) == 4


def test_hovering_tells_the_values_as_text(opened):
    page = opened("hostile")
    figure = _one(page, '[data-plot="measure"]')
    ActionChains(page).scroll_to_element(figure).perform()
    for mark in _all(page, '[data-plot="measure"] .mark-symbol path')[:7]:
        ActionChains(page).move_to_element(mark).perform()
        told = mark.get_attribute("aria-label").partition("Method: ")[2].partition("; Where")[0]
        _wait(page, lambda told=told: told == _tooltip(page))
        inside = page.execute_script(
            'return [...document.querySelectorAll("#vg-tooltip-element *")].map((e) => e.tagName)'
        )
        assert set(inside) <= {"TABLE", "TBODY", "TR", "TD"}


def _tooltip(page):
    """Return the method that the tooltip names, if one is shown."""
    return page.execute_script(
        """const shown = document.querySelector("#vg-tooltip-element.visible .value");
        return shown && shown.textContent;"""
    )


def test_the_slider_moves_by_keys_and_says_what_it_does(opened):
    page = opened("one")
    slider, said = _one(page, "#threshold"), _one(page, "#rejected")
    assert said.text.startswith("100.0 % of the samples get an answer (600 of 600)")
    before = page.execute_script('return document.querySelector("#threshold-value").textContent')
    marker = _marker(page)
    slider.send_keys(*[Keys.ARROW_RIGHT] * 50)
    after = page.execute_script('return document.querySelector("#threshold-value").textContent')
    assert float(after) > float(before)
    assert said.text in slider.get_attribute("aria-valuetext")
    detail = page.execute_script(
        'return JSON.parse(document.getElementById("data").textContent).details[0].reject'
    )
    assert float(after) == pytest.approx(detail["threshold"][50], abs=1e-4)
    assert f"{100 * detail['coverage'][50]:.1f} %" in said.text
    assert f"{100 * detail['error'][50]:.2f} % of the answers are wrong" in said.text
    _wait(page, lambda: _marker(page) != marker)


def _marker(page):
    return _all(page, '[data-plot="reject"] .mark-symbol path')[0].get_attribute("transform")


def test_the_chosen_model_on_another_data_set(opened):
    page = opened("several")
    first = _one(page, "#errors").text
    Select(_one(page, "#detail")).select_by_visible_text("glass")
    _wait(page, lambda: _one(page, "#errors").text != first)
    counts = page.execute_script(
        """return [...document.querySelectorAll("#confusion tbody tr")]
             .map((row) => [...row.cells].slice(1).map((cell) => Number(cell.textContent)))"""
    )
    assert np.sum(counts) == 200
    wrong = int(_one(page, "#errors").text.split()[0])
    assert np.trace(counts) == 200 - wrong
    assert len(_all(page, '[data-plot="reject"] svg')) == 1


def test_hostile_names_are_shown_as_text(opened):
    page = opened("hostile")
    assert page.title == HOSTILE[0]
    chips = page.execute_script(
        'return [...document.querySelectorAll(".chips .name")].map((name) => name.textContent)'
    )
    assert chips == list(HOSTILE)
    heads = page.execute_script(
        'return [...document.querySelectorAll("#confusion tbody th")].map((e) => e.textContent)'
    )
    assert heads == list(HOSTILE)
    assert _all(page, "body img") == []
    Select(_one(page, "#detail")).select_by_index(2)
    _wait(page, lambda: _all(page, "#confusion table"))


def test_everything_can_be_reached_by_tab_and_shows_it(opened):
    page = opened("several")
    seen = []
    for _ in range(60):
        ActionChains(page).send_keys(Keys.TAB).perform()
        active = page.switch_to.active_element
        seen.append(active.get_attribute("id") or active.get_attribute("class") or active.tag_name)
        if seen[-1] == "threshold":
            break
        outline = active.value_of_css_property("outline-style")
        assert outline != "none", seen[-1]
    assert seen[0] == "skip"
    assert {"data-set", "measure", "method", "scroll", "detail", "threshold"} <= set(seen)


def test_controls_have_names(opened):
    page = opened("several")
    for control in _all(page, "button, select, input"):
        assert control.accessible_name or not control.is_displayed(), control.get_attribute(
            "outerHTML"
        )[:100]


def test_printing_shows_light_tables_in_full(opened):
    page = opened("several", dark=True)
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [dark]})
    assert _one(page, "body").value_of_css_property("background-color") == "rgba(255, 255, 255, 1)"
    assert _one(page, ".scroll").value_of_css_property("overflow") == "visible"
    assert not _one(page, ".chips").is_displayed()
    page.execute_script('dispatchEvent(new Event("beforeprint"))')
    assert all(closed.get_attribute("open") for closed in _all(page, "details"))
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("width", [1100, 380])
@pytest.mark.parametrize("dark", [False, True])
def test_a_reproduction_is_drawn_and_sorted(opened, width, dark):
    page = opened("reproduction", width=width, dark=dark)
    marks = _all(page, '[data-plot="table-0-plot-0"] .mark-symbol path[aria-roledescription]')
    assert len(marks) == 3
    assert len({mark.get_attribute("d") for mark in marks}) == 3  # not by colour alone
    assert "Agreement: differs" in marks[1].get_attribute("aria-label")
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    head = _all(page, "table.sortable thead button")[5]
    head.send_keys(Keys.ENTER)
    rows = "[...document.querySelectorAll('table.sortable tbody tr')]"
    read = f"return {rows}.map((row) => row.cells[0].textContent)"
    assert page.execute_script(read) == [HOSTILE[0], "iris", "wine"]
    head.send_keys(Keys.ENTER)
    assert page.execute_script(read) == ["wine", "iris", HOSTILE[0]]
