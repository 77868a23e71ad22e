import test, { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Money } from '../src/model/money';
import { Stock } from '../src/store/stock';
import data from '../src/data.json' with { type: 'json' };

describe('money', () => {
  it('adds', () => assert.equal(String(new Money(150).plus(new Money(5))), '1.55 EUR'));
  it('multiplies', () => assert.equal(new Money(3).times(4).cents, 12));
});

test('stock', async (t) => {
  const stock = new Stock(data);
  await t.test('total', () => assert.equal(stock.total().cents, 8497));
  await t.test('nothing left', () => assert.throws(() => stock.take('c3', 1), { name: 'OutOfStock', sku: 'c3' }));
});
