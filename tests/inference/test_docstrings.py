"""Descriptions of parameters that functions share."""

import pytest

from bayesagree._inference.docstrings import shared


def test_descriptions_take_the_place_of_their_names():
    @shared(k="Number.\n", most="Largest\n  of all.", why="Notes\n-----\nBecause.")
    def function():
        """Do.

        Parameters
        ----------
        {k, most}

        {why}
        """

    assert (function.__doc__ or "").splitlines() == [
        "Do.", "", "Parameters", "----------", "k", "    Number.", "most", "    Largest", "    of all.", "",
        "Notes", "-----", "Because.",
    ]  # fmt: skip


def test_a_name_without_a_description_is_an_error():
    with pytest.raises(KeyError, match="more"):

        @shared(k="Number.")
        def function():
            """{more}"""
