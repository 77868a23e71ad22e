"""Scrapes saved pages: links, prices, tables, with Beautiful Soup, lxml and pandas."""

import io
from pathlib import Path
from urllib.parse import urljoin

import pandas as pd
from bs4 import BeautifulSoup
from lxml import etree, html

pages = Path("/tmp/pages")
pages.mkdir(exist_ok=True)
for number in range(3):
    products = "".join(
        f"<li class='product' data-sku='{number}{i}'><a href='/p/{number}{i}.html'>Ding № {i}</a>"
        f" <span class=price>{'€' if i % 2 else '$'}{i * 3.5 + number:.2f}</span></li>"
        for i in range(1, 5)
    )
    rows = "".join(f"<tr><td>{y}<td align=right>{y * number % 97}<td>{y / 3:.3f}</tr>" for y in range(2020, 2026))
    (pages / f"{number}.html").write_text(
        f"<!doctype html><title>Page {number} &amp; more</title><ul>{products}</ul>"
        f"<table id=t><thead><tr><th>Year<th>Count<th>Rate</thead>{rows}</table><p>Unclosed <b>bold"
    )

records = []
for page in sorted(pages.glob("*.html")):
    soup = BeautifulSoup(page.read_text(), "lxml")
    print(soup.title.string, "|", soup.b.get_text())
    for item in soup.select("li.product"):
        price = item.select_one(".price").text
        records.append(
            {
                "sku": item["data-sku"],
                "name": item.a.text,
                "url": urljoin("https://shop.example/", item.a["href"]),
                "currency": price[0],
                "price": float(price[1:]),
            }
        )
products = pd.DataFrame(records)
print(products.groupby("currency")["price"].agg(["count", "mean", "max"]).to_string())
print(products.iloc[-1].to_dict())

tree = html.parse(str(pages / "2.html"))
print(tree.xpath("string(//title)"), tree.xpath("count(//li[@class='product'])"))
print([a.get("href") for a in tree.getroot().cssselect("ul > li:nth-child(2n) a")])
frames = [pd.read_html(io.StringIO(page.read_text()), attrs={"id": "t"})[0] for page in sorted(pages.glob("*.html"))]
both = pd.concat(frames, keys=range(len(frames)), names=["page"]).reset_index(level=0)
print(both.groupby("page").sum().to_string())
style = etree.XSLT(
    etree.XML(
        '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="text"/>'
        '<xsl:template match="/"><xsl:for-each select="//li"><xsl:sort select="@data-sku" order="descending"/>'
        '<xsl:value-of select="concat(@data-sku, &quot; &quot;)"/></xsl:for-each></xsl:template></xsl:stylesheet>'
    )
)
print(str(style(tree)).strip())
