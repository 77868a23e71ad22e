"""needs pydantic: orders as models: validation, errors, JSON, schemas."""

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    TypeAdapter,
    ValidationError,
    computed_field,
    field_validator,
    model_validator,
    validate_call,
)
from pydantic.dataclasses import dataclass


class Colour(str, Enum):
    red = "red"
    blue = "blue"


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)
    name: str = Field(min_length=2, pattern=r"^\w[\w ]*$")
    price: Annotated[Decimal, Field(gt=0, decimal_places=2)]
    count: int = 1
    colour: Colour | None = None

    @computed_field
    @property
    def total(self) -> Decimal:
        return self.price * self.count


class Card(BaseModel):
    kind: Literal["card"]
    last4: str = Field(alias="lastFour")


class Transfer(BaseModel):
    kind: Literal["transfer"]
    iban: str

    @field_validator("iban")
    @classmethod
    def known(cls, value: str) -> str:
        if not value.startswith("DE"):
            raise ValueError("only German accounts")
        return value.replace(" ", "")


class Order(BaseModel):
    id: UUID
    placed: datetime
    due: date
    wait: timedelta = timedelta(days=2)
    items: list[Item] = Field(min_length=1)
    payment: Card | Transfer = Field(discriminator="kind")
    page: HttpUrl | None = None
    tags: frozenset[str] = frozenset()

    @model_validator(mode="after")
    def in_order(self):
        if self.due < self.placed.date():
            raise ValueError("due before it was placed")
        return self


text = """{"id": "12345678-1234-5678-1234-567812345678", "placed": "2025-03-01T10:30:00Z", "due": "2025-03-05", "wait": "P1DT2H",
 "items": [{"name": " bolt ", "price": "0.50", "count": "40", "colour": "red"}, {"name": "nut", "price": 1.25}],
 "payment": {"kind": "card", "lastFour": "4242"}, "page": "https://shop.example/o?id=1", "tags": ["a", "a"]}"""
order = Order.model_validate_json(text)
print(order.items[0], order.items[0].total, order.placed, order.wait, order.page.host, order.tags)
print(order.model_dump_json(by_alias=True, exclude={"page"}))
print(order.model_dump(mode="json", include={"payment": True, "items": {0: {"total"}}}))
broken = json.loads(text)
broken["items"][0].update(price="-1", extra=1)
broken["items"][1]["name"] = "?"
broken["payment"] = {"kind": "transfer", "iban": "FR76"}
broken["due"] = "soon"
try:
    Order.model_validate(broken)
except ValidationError as error:
    print(error.error_count())
    for problem in error.errors(include_url=False, include_context=False):
        print(problem["loc"], problem["type"], problem["msg"])
schema = Order.model_json_schema()
print(sorted(schema["$defs"]), schema["properties"]["payment"]["discriminator"], schema["required"])
print(json.dumps(TypeAdapter(dict[int, list[Item]]).json_schema()["additionalProperties"]))
T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    rows: list[T]
    next: int | None = None


print(Page[int](rows=["1", 2]), Page[int].__name__)


@dataclass
class Point:
    x: float
    y: float = Field(default=0, ge=0)


@validate_call
def scale(point: Point, by: Annotated[int, Field(multiple_of=2)]) -> tuple[float, float]:
    return point.x * by, point.y * by


print(scale({"x": "1.5", "y": 2}, "4"), TypeAdapter(list[int]).validate_json("[1, 2, 3]"))
for call in (lambda: scale({"x": "a"}, 3), lambda: TypeAdapter(list[int]).validate_json("[1, 2")):
    try:
        call()
    except ValidationError as error:
        print([(e["loc"], e["type"]) for e in error.errors()])
frozen = Item.model_construct(name="raw", price=Decimal("2"))
print(frozen.model_copy(update={"count": 3}).total, Item.model_fields["price"].metadata)
