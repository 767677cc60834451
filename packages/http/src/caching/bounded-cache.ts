/** Something that takes about so much room. */
export interface WithWeight {
  readonly weight: number;
}

/**
 * Keeps what was used lately, up to about `limit` in weight. Two generations, so that nothing is done per use but a
 * look-up: what nobody asked for while the younger one filled up is dropped with the older one, in one stroke.
 */
export class BoundedCache<K, V extends WithWeight> {
  private young = new Map<K, V>();
  private old = new Map<K, V>();
  private youngWeight = 0;

  constructor(private readonly limit: number) {}

  get(key: K): V | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const older = this.old.get(key);
    if (older !== undefined) this.put(key, older);
    return older;
  }

  /** Replaces what was there. The value's weight must not change afterwards. */
  put(key: K, value: V): void {
    this.youngWeight += value.weight - (this.young.get(key)?.weight ?? 0);
    this.young.set(key, value);
    if (this.youngWeight <= this.limit / 2) return;
    this.old = this.young;
    this.young = new Map();
    this.youngWeight = 0;
  }
}
