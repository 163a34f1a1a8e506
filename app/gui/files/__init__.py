"""Files that go into sessions and come out of them."""
