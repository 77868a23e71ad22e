import _ from 'lodash';
import Money, { toItem, type Item, Kind } from '@model/index';
import { logged, type Maybe } from '@util';
import { Bus } from './events';
import { OutOfStock } from './errors';

abstract class Base<T extends { sku: string }> {
  protected items = new Map<string, T>();
  abstract total(): Money;
  find(sku: string): Maybe<T> {
    return this.items.get(sku);
  }
}

export class Stock extends Base<Item> {
  readonly bus = new Bus();
  declare label?: string;

  constructor(raw: readonly unknown[], private readonly limit = 1000) {
    super();
    for (const item of raw.map(toItem)) this.items.set(item.sku, item);
  }

  @logged('stock')
  take(sku: string, n: number): Item {
    const item = this.find(sku)!;
    if (item.count < n || n > this.limit) {
      throw new OutOfStock(sku, n);
    }
    item.count -= n;
    this.bus.emit('changed', sku, item.count);
    return item;
  }

  override total(): Money {
    return [...this.items.values()].map((i) => i.price.times(i.count)).reduce((a, b) => a.plus(b), new Money(0));
  }

  byKind(): Record<Kind, string[]> {
    return _.mapValues(_.groupBy([...this.items.values()], 'kind'), (l) => _.map(l, 'name')) as Record<Kind, string[]>;
  }
}
