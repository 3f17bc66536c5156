"""Signatures and pauses of webhooks."""

import pytest

from thresher.config.schema import WebhookConfig
from thresher.errors import ConfigError
from thresher.watch.webhooks import LONGEST_PAUSE_SECONDS, Webhook, pause_seconds, signature


def test_the_signature_is_that_of_the_example_in_the_specification():
    signed = signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
    )
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_that_is_no_base64_is_refused_and_not_printed():
    with pytest.raises(ConfigError) as refused:
        signature("whsec_not base64", "id", 1, b"")
    assert "not base64" not in str(refused.value)


def test_pauses_double_up_to_an_hour():
    assert [pause_seconds(attempts) for attempts in range(3)] == [5, 10, 20]
    assert pause_seconds(1000) == LONGEST_PAUSE_SECONDS


def test_a_url_from_the_environment_is_printed_nowhere(monkeypatch):
    monkeypatch.setenv("HOOK", "https://hooks.example/secret-path")
    monkeypatch.setenv("THRESHER_WEBHOOK_SECRET", "key")
    webhook = Webhook.of(WebhookConfig(url_env="HOOK"))
    assert "secret-path" not in repr(webhook)
    assert webhook.host == "hooks.example"


@pytest.mark.parametrize("settings", [{}, {"url": "https://a.example/", "url_env": "HOOK"}])
def test_a_webhook_has_one_source_of_its_url(settings):
    with pytest.raises(ValueError, match="either url, or url_env"):
        WebhookConfig(**settings)
