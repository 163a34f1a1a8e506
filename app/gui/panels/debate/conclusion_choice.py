"""How a debate ends, as chosen before its start: secret votes and a verdict, each with its price."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.core.draft import SetupDraft
from app.core.session import ANY_JUDGE, NO_JUDGE
from app.engine.debate.estimates import Conclusion, Estimate, price_text
from app.engine.debate.verdict import Judge
from app.engine.engine import Engine
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import WrappedTick
from app.gui.widgets.model_choice import ModelButton
from app.gui.widgets.text import ElidedLabel, named, plain_tip, say, show_or_hide


class ConclusionChoice(QWidget):
    """Three ticks, a judge, and what each would cost; emits `changed`."""

    changed = Signal()

    def __init__(self, language: Language, look: Look, engine: Engine) -> None:
        super().__init__()
        self._language = language
        self.final_ballots = say(
            named("debate_final_ballots", WrappedTick(look)), language, "setup.final_ballots"
        )
        self.verdict = say(named("setup_verdict", WrappedTick(look)), language, "setup.verdict")
        self.polls = say(named("debate_polls", WrappedTick(look)), language, "setup.polls")
        models = engine.providers, engine.connections.known_facts
        self.judge = ModelButton(language, look, "setup_judge", *models, automatic="setup.judge.automatic")
        # Two empty texts leave it to who takes no part.
        self._judge = ("", "")
        self._prices: dict[Conclusion, ElidedLabel] = {}
        for what in Conclusion:
            # A price of many digits is elided on a narrow page; its tool tip has the whole.
            price = named(f"price_{what}", ElidedLabel("hint"))
            price.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            self._prices[what] = price
        vbox(
            hbox(self.final_ballots, STRETCH, self._prices[Conclusion.FINAL_BALLOTS], spacing=4),
            hbox(self.verdict, self.judge, STRETCH, self._prices[Conclusion.VERDICT], spacing=4),
            hbox(self.polls, STRETCH, self._prices[Conclusion.POLLS], spacing=4),
            inside=self,
            spacing=3,
        )
        for tick in self.ticks:
            tick.toggled.connect(lambda _value: self.changed.emit())
        self.judge.chosen.connect(self._on_judge_chosen)
        self._choose_judge("", "")

    @property
    def ticks(self) -> tuple[WrappedTick, ...]:
        """The ticks from top to bottom."""
        return (self.final_ballots, self.verdict, self.polls)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What takes the focus, from top to bottom."""
        return (self.final_ballots, self.verdict, self.judge, self.polls)

    def judge_text(self) -> str:
        """Return the judge as a debate keeps it."""
        if not self.verdict.isChecked():
            return NO_JUDGE if self.polls.isChecked() else ""
        return "/".join(self._judge) if all(self._judge) else ANY_JUDGE

    def show_draft(self, setup: SetupDraft) -> None:
        """Show what was chosen before."""
        self.polls.setChecked(setup.polls)
        self.final_ballots.setChecked(setup.final_ballots)
        # Older drafts have no judge: a verdict came with the votes.
        self.verdict.setChecked(setup.judge != NO_JUDGE and bool(setup.judge or setup.polls))
        provider, _slash, model = setup.judge.partition("/")
        self._choose_judge(provider if model else "", model)

    def offer(self, *, votes: bool, judges: bool) -> None:
        """Offer votes and a verdict, where somebody can vote and judge."""
        words = self._language
        for tick, name, able in (
            (self.final_ballots, "final_ballots", votes),
            (self.polls, "polls", votes),
            (self.verdict, "verdict", judges),
        ):
            tick.setEnabled(able)
            tick.setToolTip(plain_tip(words(f"setup.{name}.hint" if able else "setup.polls.too_small")))
        if votes and self.polls.isChecked():
            self.final_ballots.setEnabled(False)
        self.judge.setEnabled(judges)

    def show_prices(
        self, prices: Mapping[Conclusion, Estimate], judge: Judge | None, *, inside: bool
    ) -> None:
        """Show what each would cost, and who would judge; `inside` says that the judge takes part. What is not given is hidden."""
        words = self._language
        for what, label in self._prices.items():
            price = prices.get(what)
            text = ""
            if price is not None and price.turns > 0:
                # That no price is known is said once, below.
                unknown = price.usd is None and not (price.free or price.unasked)
                text = (
                    words("council.calls", count=price.turns)
                    if unknown
                    else words("estimate.call", count=price.turns, money=price_text(words, price))
                )
            if what == Conclusion.FINAL_BALLOTS and text and self.polls.isChecked():
                text = words("setup.final_ballots.included")
            show_or_hide(label, text)
        if judge is not None and not all(self._judge):
            self.judge.show_words(
                words("setup.judge.inside" if inside else "setup.judge.outside", name=judge.model)
            )

    def _choose_judge(self, provider: str, model: str) -> None:
        self._judge = (provider, model)
        self.judge.show_model(provider, model)

    def _on_judge_chosen(self, provider: str, model: str) -> None:
        self._choose_judge(provider, model)
        self.verdict.setChecked(True)
        self.changed.emit()
