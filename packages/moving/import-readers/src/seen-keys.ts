import { createHash } from 'node:crypto';

const INITIAL_SLOTS = 2 ** 16;

/** Set of texts that keeps only hashes of 53 bits, which take up to 32 bytes each. Millions of ids would fill the memory. */
export class SeenKeys {
  private slots = new Float64Array(INITIAL_SLOTS);
  private count = 0;

  /** Returns false if the text was added before. */
  add(key: string): boolean {
    if (2 * this.count > this.slots.length) this.grow();
    const isNew = this.insert(hashOf(key));
    if (isNew) this.count++;
    return isNew;
  }

  private insert(hash: number): boolean {
    const { slots } = this;
    let slot = hash % slots.length;
    while (slots[slot] !== 0) {
      if (slots[slot] === hash) return false;
      slot = (slot + 1) % slots.length;
    }
    slots[slot] = hash;
    return true;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Float64Array(2 * old.length);
    for (const hash of old) if (hash !== 0) this.insert(hash);
  }
}

/** Empty slots are 0. */
const hashOf = (key: string): number => {
  const digest = createHash('sha1').update(key).digest();
  return digest.readUIntBE(0, 6) * 32 + (digest[6]! & 31) || 1;
};
