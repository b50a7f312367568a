"""A wrong setting stops the start with one sentence that names it."""

from pathlib import Path

import pytest

from app.settings import Settings, SettingsError, is_loopback, load_settings

SECRET = "a secret of thirty-two bytes, at least"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"PLACET_{name.upper()}", raising=False)


def test_without_any_setting_it_is_a_local_server() -> None:
    settings = load_settings()
    assert (settings.auth, settings.host, settings.port, settings.model) == ("local", "127.0.0.1", 8000, "rehearsal")
    assert settings.database_url == "sqlite+aiosqlite:///./placet.db"
    assert (settings.approval_ttl_s, settings.execute_ttl_s, settings.lease_s) == (900, 900, 15)
    assert (settings.turn_request_limit, settings.turn_tool_calls, settings.turn_seconds) == (10, 20, 120)
    assert (settings.rate_per_minute, settings.running_turns, settings.open_streams) == (120, 5, 20)


def test_the_environment_comes_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PLACET_PORT=9000\nPLACET_LEASE_S=20\nOPENAI_API_KEY=x\n")
    monkeypatch.setenv("PLACET_PORT", "9001")
    assert (load_settings().port, load_settings().lease_s) == (9001, 20)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("sqlite:///a.db", "sqlite+aiosqlite:///a.db"),
        ("postgresql://u:p%40@h:5432/d", "postgresql+asyncpg://u:p%40@h:5432/d"),
        ("postgres://h/d", "postgresql+asyncpg://h/d"),
        ("postgresql+asyncpg://h/d", "postgresql+asyncpg://h/d"),
    ],
)
def test_a_database_address_gets_its_driver(monkeypatch: pytest.MonkeyPatch, given: str, expected: str) -> None:
    monkeypatch.setenv("PLACET_DATABASE_URL", given)
    assert load_settings().database_url == expected


def test_packs_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_PACKS", "library:pack, garden.pack:build ,")
    assert load_settings().packs == ("library:pack", "garden.pack:build")


def test_an_empty_variable_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REDIS_URL", "JWT_SECRET", "SECRETS_KEY", "JWT_JWKS_URL"):
        monkeypatch.setenv(f"PLACET_{name}", "")
    settings = load_settings()
    assert (settings.redis_url, settings.jwt_secret, settings.secrets_key, settings.jwt_jwks_url) == (None,) * 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "http"),
        ("AUTH", "none"),
        ("DATABASE_URL", "mysql://h/d"),
        ("DATABASE_URL", "nonsense"),
        ("DATABASE_URL", "postgresql+psycopg://h/d"),
        ("REDIS_URL", "http://h"),
        ("APPROVAL_TTL_S", "-1"),
        ("EXECUTE_TTL_S", "0"),
        ("TURN_REQUEST_LIMIT", "0"),
        ("TURN_TOOL_CALLS", "many"),
        ("TURN_SECONDS", "nan"),
        ("TOOL_SECONDS", "inf"),
        ("LEASE_S", "0"),
        ("RATE_PER_MINUTE", "0"),
        ("RUNNING_TURNS", "0"),
        ("OPEN_STREAMS", "-3"),
        ("TRADING_LIVE", "perhaps"),
        ("SECRETS_KEY", "short"),
        ("JWT_SECRET", "short"),
        ("ZONE", "Mars/Olympus"),
        ("ZONE", "../../etc/passwd"),
    ],
)
def test_a_wrong_value_is_one_sentence_that_begins_with_the_settings_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"PLACET_{name}", value)
    with pytest.raises(SettingsError) as stopped:
        load_settings()
    sentence = str(stopped.value)
    assert sentence.startswith(f"PLACET_{name}: ")
    assert "\n" not in sentence
    assert "short" not in sentence


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "placet.example"])
def test_whoever_can_be_reached_must_ask_for_keys(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("PLACET_HOST", host)
    with pytest.raises(SettingsError, match=r"^PLACET_AUTH: ") as stopped:
        load_settings()
    assert host in str(stopped.value)
    monkeypatch.setenv("PLACET_AUTH", "jwt")
    with pytest.raises(SettingsError, match="PLACET_JWT_SECRET"):
        load_settings()
    monkeypatch.setenv("PLACET_JWT_SECRET", SECRET)
    assert load_settings().host == host


def test_keys_of_others_need_issuer_and_audience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_AUTH", "jwt")
    monkeypatch.setenv("PLACET_JWT_JWKS_URL", "https://id.example/keys")
    with pytest.raises(SettingsError, match=r"^PLACET_JWT_JWKS_URL: "):
        load_settings()
    monkeypatch.setenv("PLACET_JWT_ISSUER", "https://id.example")
    monkeypatch.setenv("PLACET_JWT_AUDIENCE", "placet")
    assert load_settings().jwt_audience == "placet"
    monkeypatch.setenv("PLACET_JWT_SECRET", SECRET)
    with pytest.raises(SettingsError, match=r"^PLACET_JWT_JWKS_URL: "):
        load_settings()


def test_secrets_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_JWT_SECRET", SECRET)
    monkeypatch.setenv("PLACET_DATABASE_URL", "postgresql://u:hunter2@h/d")
    monkeypatch.setenv("PLACET_REDIS_URL", "redis://:hunter2@h")
    settings = load_settings()
    assert SECRET not in repr(settings)
    assert "hunter2" not in repr(settings)


def test_addresses_of_this_machine() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "localhost.example", "10.0.0.1", "")))
