"""A deck of slides with a native chart, a table and notes; then read back."""

from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches, Pt

deck = Presentation()
slide = deck.slides.add_slide(deck.slide_layouts[0])
slide.shapes.title.text = "Quarterly review"
slide.placeholders[1].text = "Figures and plans"
slide = deck.slides.add_slide(deck.slide_layouts[1])
slide.shapes.title.text = "Findings"
frame = slide.placeholders[1].text_frame
frame.text = "Sales rose"
for level, text in ((1, "North +12 %"), (1, "South +3 %"), (0, "Costs fell")):
    paragraph = frame.add_paragraph()
    paragraph.text, paragraph.level = text, level
    paragraph.font.size = Pt(20)
slide.notes_slide.notes_text_frame.text = "Mention the warehouse."
slide = deck.slides.add_slide(deck.slide_layouts[5])
slide.shapes.title.text = "Revenue"
data = CategoryChartData()
data.categories = ["Q1", "Q2", "Q3"]
data.add_series("2024", (19.2, 21.4, 16.7))
data.add_series("2025", (22.3, 28.6, 15.2))
slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1.5), Inches(5), Inches(3), data)
table = slide.shapes.add_table(2, 3, Inches(1), Inches(5), Inches(6), Inches(1)).table
for column, text in enumerate(("a", "b", "c")):
    table.cell(0, column).text = text
    table.cell(1, column).text = str(column**2)
deck.save("/output/deck.pptx")

for number, slide in enumerate(Presentation("/output/deck.pptx").slides, 1):
    print("slide", number, slide.slide_layout.name, slide.has_notes_slide)
    for shape in slide.shapes:
        if shape.has_text_frame:
            print("  text", [(p.level, p.text) for p in shape.text_frame.paragraphs])
        if getattr(shape, "has_chart", False) and shape.has_chart:
            chart = shape.chart
            print("  chart", list(chart.plots[0].categories), [(s.name, list(s.values)) for s in chart.series])
        if shape.has_table:
            print("  table", [[cell.text for cell in row.cells] for row in shape.table.rows])
