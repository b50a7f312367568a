"""In CI a skipped test counts as failed: nothing was shown. Only the labelled cases may be missing there."""

import os

import pytest

NO_CASES = "the labelled cases (../shared/cases) aren't here"


def _unexcused(reporter: pytest.TerminalReporter) -> list[str]:
    skipped = reporter.stats.get("skipped", [])
    return [report.nodeid for report in skipped if "shared/cases" not in str(report.longrepr)]


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and isinstance(reporter, pytest.TerminalReporter) and _unexcused(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if os.environ.get("CI") == "true":
        for nodeid in _unexcused(terminalreporter):
            terminalreporter.write_line(f"skipped in CI, which counts as failed: {nodeid}", red=True)
