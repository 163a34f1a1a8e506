"""The graph of a workflow: steps in layers from top to bottom, with lines to the steps that depend on them."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.core.text import visible
from app.core.workflow import WorkflowDefinition
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.panels.workflow.step_display import depths, in_order

BOX = 28
GAP = 26
BETWEEN = 10
WIDEST = 150


class GraphView(QWidget):
    """Paints the steps of a definition and their dependencies; faulty steps in the error colour."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("workflow_graph")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._language = language
        self._look = look
        self._definition = WorkflowDefinition(id="", name="")
        self._wrong: frozenset[int] = frozenset()
        self._layers: list[list[int]] = []
        look.changed.connect(self.update)
        language.changed.connect(self._name)

    def show_definition(self, definition: WorkflowDefinition, wrong: frozenset[int]) -> None:
        """Show a definition; `wrong` are the indexes of faulty steps."""
        self._definition, self._wrong = definition, wrong
        depth = depths(definition)
        places = {step.id: place for place, step in enumerate(definition.steps)}
        layers: dict[int, list[int]] = {}
        for step in in_order(definition, depth):
            layers.setdefault(depth[step.id], []).append(places[step.id])
        self._layers = [layers[key] for key in sorted(layers)]
        self._name()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        count = len(self._layers)
        return QSize(240, max(0, count * tall(BOX) + max(0, count - 1) * GAP + 4))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def boxes(self) -> dict[int, QRectF]:
        """Return the rectangle of each step's box by its index."""
        found = {}
        for row, layer in enumerate(self._layers):
            width = min(WIDEST, (self.width() - 2 - BETWEEN * (len(layer) - 1)) / len(layer))
            left = (self.width() - width * len(layer) - BETWEEN * (len(layer) - 1)) / 2
            for column, place in enumerate(layer):
                x = left + column * (width + BETWEEN)
                found[place] = QRectF(x, row * (tall(BOX) + GAP) + 1.5, max(8.0, width), tall(BOX))
        return found

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens, boxes = QPainter(self), self._look.tokens, self.boxes()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = {step.id: place for place, step in enumerate(self._definition.steps)}
        painter.setPen(QPen(QColor(tokens.text_3), 1.3))
        for place, step in enumerate(self._definition.steps):
            for one in step.depends_on:
                start, end = boxes.get(places.get(one, -1)), boxes.get(place)
                if start is not None and end is not None:
                    self._paint_edge(painter, start, end)
        painter.setFont(sized(self.font(), 12, 500))
        for place, box in boxes.items():
            step = self._definition.steps[place]
            wrong = place in self._wrong
            painter.setPen(QPen(QColor(tokens.error if wrong else tokens.line_strong), 1))
            painter.setBrush(QColor(tokens.error_bg if wrong else tokens.surface))
            painter.drawRoundedRect(box, 7, 7)
            painter.setPen(QColor(tokens.error if wrong else tokens.text))
            text = painter.fontMetrics().elidedText(
                visible(step.name), Qt.TextElideMode.ElideRight, int(box.width()) - 12
            )
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_edge(self, painter: QPainter, start: QRectF, end: QRectF) -> None:
        """Paint a line with an arrow head from the bottom of a box to the top of another."""
        first = QPointF(start.center().x(), start.bottom())
        last = QPointF(end.center().x(), end.top() - 1)
        path = QPainterPath(first)
        middle = (first.y() + last.y()) / 2
        path.cubicTo(QPointF(first.x(), middle), QPointF(last.x(), middle), last)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        painter.drawPolyline([last + QPointF(-3.5, -4.5), last, last + QPointF(3.5, -4.5)])

    def _name(self) -> None:
        """Set the accessible name and description to the graph in words."""
        names = {step.id: step.name for step in self._definition.steps}
        lines = [
            self._language(
                "workflow.graph.line",
                name=step.name,
                after=", ".join(names.get(one, one) for one in step.depends_on),
            )
            if step.depends_on
            else step.name
            for step in self._definition.steps
        ]
        self.setAccessibleName(self._language("workflow.graph"))
        self.setAccessibleDescription("; ".join(lines))
