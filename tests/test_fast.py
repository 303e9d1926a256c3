"""What is written in a hurry is what the standard library writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.json_lines import json_encoder

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_a_value_is_written_as_the_standard_library_does(value: object) -> None:
    assert json.dumps(value) == json_encoder()(value)


def test_nan_is_refused_where_it_is_not_allowed() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_encoder(allow_nan=False)({"equity": [1.0, float("nan")]})


def test_an_interpreter_without_an_encoder_in_c_writes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    assert '{"who": "ford", "dice": [3, 1]}' == json_encoder()({"who": "ford", "dice": (3, 1)})
