export class OutOfStock extends Error {
  override name = 'OutOfStock';

  constructor(readonly sku: string, readonly wanted: number) {
    super(`${sku}: ${wanted} wanted`);
  }
}
