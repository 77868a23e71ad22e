"""An invoice as PDF: flowing text, a table over pages, page numbers; then its text and form."""

from pypdf import PdfReader, PdfWriter
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

items = [(f"Item {i:02d}", i % 7 + 1, 3.5 * i) for i in range(1, 61)]
styles = getSampleStyleSheet()
rows = [["Item", "Pieces", "Price", "Sum"]]
rows += [[name, count, f"{price:.2f}", f"{count * price:.2f}"] for name, count, price in items]
total = sum(count * price for _, count, price in items)
rows.append(["Total", "", "", f"{total:.2f}"])
table = Table(rows, repeatRows=1)
table.setStyle(
    TableStyle(
        [
            ("BACKGROUND", (0, 0), (-1, 0), colors.lightgrey),
            ("GRID", (0, 0), (-1, -1), 0.25, colors.grey),
            ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ]
    )
)


def number(canvas, document):
    canvas.drawRightString(A4[0] - 40, 30, f"Page {document.page}")


SimpleDocTemplate("/output/invoice.pdf", pagesize=A4, title="Invoice").build(
    [Paragraph("Invoice 2025-117", styles["Title"]), Spacer(1, 12), table],
    onFirstPage=number,
    onLaterPages=number,
)

reader = PdfReader("/output/invoice.pdf")
print(len(reader.pages), reader.metadata.title, [float(x) for x in reader.pages[0].mediabox])
text = "\n".join(page.extract_text() for page in reader.pages)
lines = text.splitlines()
print(lines[0], [line for line in lines if line.startswith("Page")], f"{total:.2f}" in text)
print(sum("Item" in line for line in lines))

writer = PdfWriter()
for page in reversed(reader.pages):
    page.rotate(90)
    writer.add_page(page)
writer.add_metadata({"/Subject": "turned"})
writer.encrypt("secret")
writer.write("/output/turned.pdf")
locked = PdfReader("/output/turned.pdf")
print(locked.is_encrypted, locked.decrypt("secret").name, locked.pages[0].rotation, locked.metadata["/Subject"])
