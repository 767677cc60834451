/** Growing set of small numbers, with one bit for each possible number. */
export class NumberSet {
  private bits = new Uint8Array(1024);

  has(number: number): boolean {
    return (this.bits[number >> 3]! & (1 << (number & 7))) !== 0;
  }

  add(number: number): void {
    const byte = number >> 3;
    if (byte >= this.bits.length) {
      const larger = new Uint8Array(2 ** Math.ceil(Math.log2(byte + 1)));
      larger.set(this.bits);
      this.bits = larger;
    }
    this.bits[byte]! |= 1 << (number & 7);
  }
}
