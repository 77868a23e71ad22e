import type { Currency } from './currency';

export class Money {
  constructor(public readonly cents: number, private readonly currency: Currency = 'EUR') {}

  plus(other: Money): Money {
    return new Money(this.cents + other.cents, this.currency);
  }

  times = (n: number): Money => new Money(this.cents * n, this.currency);

  toString(): string {
    return `${(this.cents / 100).toFixed(2)} ${this.currency}`;
  }
}
