"""The network in the settings: what is typed is checked, used at once, and kept; a password is not."""

import pytest

from app.children.processes import child_environment, use_variables
from app.storage.paths import DataPaths
from tests.app_driver import at_window, until
from tests.wire.certificates import own_certificates


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("network")
        await until(lambda: person.sees("network_proxy"))
        yield person
        person.find("settings_close").click()
    use_variables({})


def kept(person):
    return person.window.controller.engine.settings()


async def test_a_proxy_and_certificates_are_used_and_kept(person, data_dir, tmp_path):
    company = own_certificates(tmp_path).authority
    await person.write("network_proxy", " http://proxy.example:8080 ")
    await person.write("network_certificates", str(company))
    await person.click("network_save")
    await until(lambda: person.find("network_result").property("kind") == "ok")
    await until(lambda: kept(person).proxy == "http://proxy.example:8080")
    assert kept(person).certificates == str(company)
    assert child_environment()["HTTPS_PROXY"] == "http://proxy.example:8080"
    assert child_environment()["SSL_CERT_FILE"] == str(DataPaths(data_dir).certificates)
    await person.write("network_proxy", "")
    await person.write("network_certificates", "")
    await person.click("network_save")
    await until(lambda: kept(person).proxy == kept(person).certificates == "")
    assert child_environment().get("SSL_CERT_FILE") != str(DataPaths(data_dir).certificates)


async def test_what_is_wrong_is_said_at_its_field_and_not_kept(person, data_dir):
    result = person.find("network_result")
    for field, typed, words in (
        ("network_proxy", "http://me:secret-canary@proxy.example:8080", "does not save proxy passwords"),
        ("network_proxy", "proxy", "is not the address of a proxy"),
        ("network_certificates", "/no/such/file.pem", "No such file"),
    ):
        await person.write(field, typed)
        await person.click("network_save")
        await until(lambda words=words: words in result.text(), what=words)
        assert result.property("kind") == "error" and "canary" not in result.text()
        await until(lambda: result.height() >= result.heightForWidth(result.width()))
        await until(lambda field=field: person.find(field).hasFocus())
        assert kept(person).proxy == kept(person).certificates == ""
        await person.write(field, "")
    for file in data_dir.rglob("*"):
        assert not file.is_file() or b"canary" not in file.read_bytes()


async def test_what_was_kept_is_used_after_a_restart(qapp, data_dir):
    data_dir.mkdir(exist_ok=True)
    text = '{"version": 1, "proxy": "http://proxy.example:8080", "certificates": "/no/such/file.pem"}'
    (data_dir / "settings.json").write_text(text)
    async with at_window(data_dir) as person:
        # A file that is gone must not keep Moot from starting; the page shows what was chosen.
        person.window.controller.settings.open("network")
        await until(lambda: person.sees("network_proxy"))
        assert person.find("network_certificates").text() == "/no/such/file.pem"
        assert person.find("network_proxy").text() == "http://proxy.example:8080"
        person.find("settings_close").click()
    use_variables({})
