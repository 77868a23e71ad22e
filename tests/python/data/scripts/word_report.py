"""A report in Word: headings, a styled table, a chart, a list; then read back."""

import io

import docx
import matplotlib.pyplot as plt
import pandas as pd
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Inches, Pt, RGBColor

figures = pd.DataFrame(
    {"quarter": ["Q1", "Q2", "Q3", "Q4"], "revenue": [120.5, 133.25, 128.75, 160.0], "cost": [80, 85.5, 90, 97.25]}
)
figures["margin"] = (figures["revenue"] - figures["cost"]) / figures["revenue"]

document = docx.Document()
document.core_properties.author = "Reports"
document.add_heading("Annual report", level=0)
paragraph = document.add_paragraph("Revenue grew by ")
growth = figures["revenue"].iloc[-1] / figures["revenue"].iloc[0] - 1
run = paragraph.add_run(f"{growth:.1%}")
run.bold = True
run.font.color.rgb = RGBColor(0x1F, 0x77, 0xB4)
paragraph.add_run(" over the year – naïve estimates were lower.")
document.add_heading("Figures", level=1)
table = document.add_table(rows=1, cols=4, style="Light Grid Accent 1")
for cell, name in zip(table.rows[0].cells, figures.columns):
    cell.text = name
for record in figures.itertuples(index=False):
    cells = table.add_row().cells
    for cell, value in zip(cells, record):
        cell.text = value if isinstance(value, str) else f"{value:.3f}"
        cell.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.RIGHT
fig, ax = plt.subplots(figsize=(5, 2.5))
ax.bar(figures["quarter"], figures["revenue"])
picture = io.BytesIO()
fig.savefig(picture, dpi=80)
document.add_picture(picture, width=Inches(4))
for item in ("hire", "ship", "measure"):
    document.add_paragraph(item, style="List Number").paragraph_format.space_after = Pt(2)
document.add_page_break()
document.save("/output/report.docx")

back = docx.Document("/output/report.docx")
for paragraph in back.paragraphs:
    print(paragraph.style.name, "|", paragraph.text.strip())
for row in back.tables[0].rows:
    print([cell.text for cell in row.cells])
print(back.core_properties.author, len(back.inline_shapes), back.inline_shapes[0].width.inches)
bold = [run.text for p in back.paragraphs for run in p.runs if run.bold]
print(bold)
