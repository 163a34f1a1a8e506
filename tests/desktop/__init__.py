"""Tests with the programs of a real desktop; packages.txt names what Debian calls them."""
