"""Servers, clocks and copies for the tests."""
