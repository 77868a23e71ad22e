import data from './data.json' with { type: 'json' };
import { Stock } from './store/stock';
import { OutOfStock } from './store/errors.js';
import table from './report/table.ts';
import { level } from './report/levels';
import { List } from './view/list';
import { calls } from './util/logged';
import { Text } from '@util';
import * as model from './model';

const stock = new Stock(data);
stock.bus.on('changed', (sku, count) => console.log('changed', sku, count));
console.log(String(stock.total()), stock.byKind(), Object.keys(model).sort(), model.Kind);
stock.take('a1', 40);
console.log(table([stock.find('a1')!, stock.find('b2')!]));
console.log([60, 3, 0].map(level), Text.Case.title('list'), Object.keys(stock));
console.log(List({ items: [stock.find('a1')!, stock.find('c3')!] }));
const place = (e: Error) => /(\w+\.tsx?):(\d+)/.exec(e.stack!.split('\n')[1])?.slice(1).join(':');
try {
  stock.take('b2', 9);
} catch (e) {
  console.log(e instanceof OutOfStock, (e as Error).message, place(e as Error));
}
const { late } = await import('./late');
console.log(await late(calls));
if (process.argv[2] === 'fail') stock.take('c3', 1);
