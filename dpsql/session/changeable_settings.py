"""The settings of later statements of one session, which front ends read and change."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.errors import DataError
from dpsql.privacy.measure import exact
from dpsql.schema import Noise
from dpsql.schema.privacy import Privacy
from dpsql.session.pricing.error_target import ErrorTarget
from dpsql.session.request import StatementSettings
from dpsql.session.request.statement_settings import allowed, target


class ChangeableSettings:
    """What SET changes, within what the owner allows; each begins at the owner's value."""

    def __init__(self, privacy: Privacy) -> None:
        self._privacy = privacy
        self._settings = self._default = StatementSettings(privacy.query_epsilon, mechanism=privacy.mechanism)

    @property
    def settings(self) -> StatementSettings:
        """The settings of this session."""
        return self._settings

    @settings.setter
    def settings(self, settings: StatementSettings | None) -> None:
        self._settings = allowed(self._default if settings is None else settings, self._privacy)

    def set(self, name: str, value: str | None) -> None:
        """Change a setting to a value as people write it; None resets it to the schema's.

        Raises:
            ValueError: The text is not a value of the setting.
            DataError: The schema does not allow the value.
        """
        self.settings = self._settings.with_setting(name, value, self._default)

    @property
    def epsilon(self) -> Fraction:
        """The price of a statement of this session, in ε."""
        return self._settings.epsilon

    @epsilon.setter
    def epsilon(self, epsilon: Fraction | None) -> None:
        wanted = self._default.epsilon if epsilon is None else exact(epsilon)
        self.settings = replace(self._settings, epsilon=wanted)

    @property
    def mechanism(self) -> Noise:
        """The noise of statements: laplace, gaussian, or auto for the better one under this budget."""
        return self._settings.mechanism

    @mechanism.setter
    def mechanism(self, mechanism: str | None) -> None:
        try:
            self.set("dpsql.mechanism", mechanism)
        except ValueError as error:
            raise DataError(f"{mechanism!r} is no mechanism; {error}") from None

    @property
    def target_error(self) -> ErrorTarget | None:
        """The error that each statement shall reach, at a price of `StatementSettings.most` at most."""
        return self._settings.target_error

    @target_error.setter
    def target_error(self, wanted: ErrorTarget | str | float | None) -> None:
        self.settings = replace(self._settings, target_error=target(wanted))
