"""Matrices as CSV, NPZ and ZIP, read back by the programs that a reader would use."""

import csv
import io
import re
import unicodedata
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ui.charts.heat_map import Axis, position_axis, word_axis
from ui.take_home.tables import csv_of, distinct_stems, file_stem, npz_of, pack, zip_of

HOSTILE = (
    'say "hi", ok; yes',
    "two\nlines",
    "back\r\nslash\\",
    "tab\tinside",
    "👩‍👩‍👧‍👦🇮🇳",
    "क्या",
    "מר",
    "NA",
    "é",
    "<b>x</b>",
    "",
)
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\tx", "＝1", "＋1", "－1", "＠a", "  =1", "\xa0=1")
FORMULAS += ("\ufeff=1", "\u200b@x", "\u3000+1", '="a"')


def axis(title, names):
    return Axis(title, tuple(names), tuple(names))


def read(file):
    # Names such as "NA" are names.
    return pd.read_csv(io.BytesIO(file), index_col=0, keep_default_na=False)


def cells(file):
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"), newline="")))


def test_csv_is_read_back_exactly_by_pandas():
    values = np.array([[1 / 3, -np.inf, 5e-324], [-0.0, 1.7976931348623157e308, 0.1 + 0.2]])
    rows, columns = word_axis("query", ("the", "the")), word_axis("key", ("a", "b", "c"))
    frame = read(csv_of(values, rows, columns))
    np.testing.assert_array_equal(frame.to_numpy(), values)
    assert np.signbit(frame.iloc[1, 0])
    assert list(frame.index) == ["0 the", "1 the"]
    assert list(frame.columns) == ["0 a", "1 b", "2 c"]
    assert frame.index.name == r"query \ key"


def test_csv_starts_with_a_byte_order_mark_and_says_minus_infinity_in_letters():
    one = axis("query", ["é"])
    assert csv_of(np.array([[-np.inf]]), one, one) == '\ufeff"query \\ query","é"\r\n"é",-inf\r\n'.encode()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_word_is_one_cell_and_comes_back_as_typed(name):
    read_back = cells(csv_of(np.array([[0.5]]), axis("query", [name]), axis("key", [name])))
    assert read_back == [[r"query \ key", name], [name, "0.5"]]


@pytest.mark.parametrize("name", ["a\x00b", "a\ud800b", "a\x1bb"])
def test_what_no_file_can_carry_is_replaced(name):
    one = axis("query", [name])
    assert cells(csv_of(np.array([[0.5]]), one, one))[1] == ["a�b", "0.5"]
    kept = np.load(io.BytesIO(npz_of({"w": (np.array([[0.5]]), one, one)})))
    assert kept["w.rows"].tolist() == ["a�b"]


@pytest.mark.parametrize("name", FORMULAS)
def test_no_name_is_a_formula(name):
    read_back = cells(csv_of(np.array([[-0.5]]), axis("query", [name]), axis("key", [name])))
    assert read_back[0][1] == read_back[1][0] == f"'{name}"
    assert read_back[1][1] == "-0.5"


def test_a_title_is_no_formula_either_and_a_position_before_a_word_needs_no_apostrophe():
    read_back = cells(csv_of(np.array([[1.0]]), axis("=x", ["0 =1+1"]), axis("key", ["0 -1"])))
    assert read_back == [["'=x \\ key", "0 -1"], ["0 =1+1", "1.0"]]


LOST = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def first_visible(text):
    return next((c for c in text if unicodedata.category(c)[0] not in "ZC"), "")


@given(
    arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=4), elements=st.floats(allow_nan=False)),
    st.data(),
)
def test_any_numbers_and_any_names_make_the_journey(values, data):
    any_names = st.lists(st.text(max_size=8), min_size=4, max_size=4)
    rows = axis("query", data.draw(any_names)[: values.shape[0]])
    columns = axis("key", data.draw(any_names)[: values.shape[1]])
    header, *body = cells(csv_of(values, rows, columns))
    np.testing.assert_array_equal(np.array([[float(cell) for cell in row[1:]] for row in body]), values)
    for name, shown in zip((*rows.names, *columns.names), (*(row[0] for row in body), *header[1:]), strict=True):
        assert shown in (expected := LOST.sub("�", name), f"'{expected}")
        assert first_visible(shown) not in tuple("=+-@＝＋－＠") or not shown
    with np.load(io.BytesIO(npz_of({"scaled scores": (values, rows, columns)})), allow_pickle=False) as kept:
        np.testing.assert_array_equal(kept["scaled_scores"], values)
        assert kept["scaled_scores"].dtype == np.float64


def test_npz_holds_every_array_with_its_names():
    words, features = word_axis("query", ("मीरा", "😀")), position_axis("feature", 3)
    q, weights = np.random.default_rng(0).normal(size=(2, 3)), np.array([[1.0, -np.inf], [1 / 3, 2 / 3]])
    matrices = {
        "Q": (q, words, features),
        "q": (q + 1, words, features),
        "largest weight, raw scores": (weights, words, words),
        "file": (weights, words, words),
        "allow_pickle": (weights, words, words),
    }
    with np.load(io.BytesIO(npz_of(matrices)), allow_pickle=False) as kept:
        np.testing.assert_array_equal(kept["Q"], q)
        np.testing.assert_array_equal(kept["q_2"], q + 1)
        np.testing.assert_array_equal(kept["largest_weight_raw_scores"], weights)
        assert kept["Q.rows"].tolist() == ["0 मीरा", "1 😀"]
        assert kept["Q.columns"].tolist() == ["0", "1", "2"]
        assert kept["Q.axes"].tolist() == ["query", "feature"]
        stems = {key for key in kept.files if "." not in key}
    assert stems == {"Q", "q_2", "largest_weight_raw_scores", "file_2", "allow_pickle_2"}


@pytest.mark.parametrize("make", [lambda m: csv_of(*m), lambda m: npz_of({"a": m}), lambda m: zip_of({"a": m})])
def test_axes_that_do_not_fit_are_refused(make):
    with pytest.raises(ValueError, match=r"values must have shape \(1, 1\); got \(1, 2\)"):
        make((np.zeros((1, 2)), axis("query", ["a"]), axis("key", ["a"])))


def test_zip_holds_every_table_and_is_the_same_for_the_same_state(monkeypatch):
    one = axis("query", ["0 a"])
    matrices = {"weights of this head": (np.array([[0.25]]), one, one), "W_q": (np.array([[2.0]]), one, one)}
    made = zip_of(matrices, {"figures.svg": b"<svg/>"})
    monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
    assert zip_of(matrices, {"figures.svg": b"<svg/>"}) == made
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["weights_of_this_head.csv", "W_q.csv", "figures.svg"]
        assert archive.read("weights_of_this_head.csv") == csv_of(*matrices["weights of this head"])
        assert archive.read("figures.svg") == b"<svg/>"
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert zip_of({**matrices, "W_q": (np.array([[3.0]]), one, one)}, {"figures.svg": b"<svg/>"}) != made


def test_names_of_files_are_safe_on_windows_and_distinct():
    names = [("../../a.txt", b""), ("a.txt", b""), ("A.TXT", b""), ("nul", b""), ("ÄÖ√.py", b""), ("a b?.c*", b"")]
    with zipfile.ZipFile(io.BytesIO(pack(names))) as archive:
        held = archive.namelist()
    assert held == ["a.txt", "a_2.txt", "A_3.TXT", "nul_", "AO.py", "a_b_c"]
    assert zipfile.ZipFile(io.BytesIO(pack([]))).namelist() == []


@given(st.lists(st.text(max_size=12), max_size=8))
def test_stems_are_plain_and_distinct_whatever_the_names(names):
    stems = distinct_stems(names)
    assert len({stem.casefold() for stem in stems}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,90}", stem) for stem in stems)


def test_a_stem_is_legible():
    assert [file_stem(name) for name in ("scaled scores", "W_q", "LPT1", "x" * 200)] == [
        "scaled_scores",
        "W_q",
        "LPT1_",
        "x" * 80,
    ]
