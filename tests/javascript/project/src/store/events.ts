import { EventEmitter } from 'node:events';

interface Events {
  changed: [sku: string, count: number];
}

export class Bus extends EventEmitter<Events> {}
