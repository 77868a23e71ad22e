"""A workbook with formulas, formats, a chart and validation; a second one read and changed."""

import datetime

import openpyxl
import pandas as pd
from openpyxl.chart import BarChart, Reference
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

stock = pd.DataFrame(
    {
        "part": ["bolt", "nut", "gear", "belt", "motor"],
        "count": [1200, 950, 40, 75, 6],
        "price": [0.05, 0.04, 12.5, 8.25, 149.0],
        "checked": pd.to_datetime(["2025-03-01", "2025-02-14", "2025-03-09", "2025-01-30", "2025-03-11"]),
    }
)
with pd.ExcelWriter("/output/stock.xlsx", engine="xlsxwriter", datetime_format="yyyy-mm-dd") as writer:
    stock.to_excel(writer, sheet_name="stock", index=False)
    sheet, book = writer.sheets["stock"], writer.book
    money = book.add_format({"num_format": "#,##0.00 €", "bold": True})
    sheet.set_column("C:C", 12, money)
    for row in range(2, 7):
        sheet.write_formula(f"E{row}", f"=B{row}*C{row}", money, stock["count"][row - 2] * stock["price"][row - 2])
    sheet.add_table("G1:H3", {"columns": [{"header": "k"}, {"header": "v"}]})

book = openpyxl.load_workbook("/output/stock.xlsx")
sheet = book["stock"]
sheet["E1"] = "value"
sheet["E1"].font = Font(bold=True, color="FF0000")
sheet.conditional_formatting.add("B2:B6", CellIsRule("lessThan", ["50"], fill=PatternFill(bgColor="FFC7CE")))
choice = DataValidation(type="list", formula1='"yes,no"')
sheet.add_data_validation(choice)
choice.add("F2:F6")
chart = BarChart()
chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=6), titles_from_data=True)
chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=6))
sheet.add_chart(chart, "J2")
notes = book.create_sheet("notes")
notes.append([datetime.date(2025, 3, 12), "counted", True, None, 1e-7])
notes.merge_cells("A3:C3")
book.save("/output/stock.xlsx")

again = openpyxl.load_workbook("/output/stock.xlsx")
print(again.sheetnames, again["stock"].dimensions, again["stock"]["E3"].value, again["stock"]["E1"].font.color.rgb)
print([cell.value for cell in again["notes"][1]], again["notes"].merged_cells.ranges)
print(len(again["stock"]._charts), again["stock"].conditional_formatting and "rules", again["stock"]["D2"].number_format)
frame = pd.read_excel("/output/stock.xlsx", sheet_name="stock", usecols="A:D")
print(frame.dtypes.astype(str).to_dict())
print((frame["count"] * frame["price"]).sum(), frame["checked"].max())
