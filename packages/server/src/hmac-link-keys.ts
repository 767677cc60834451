import { createHmac, timingSafeEqual } from 'node:crypto';
import type { LinkKeys } from '@parley/domain/access';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE32 = /^[a-z2-7]*$/;
const ID_BYTES = 5;

/** What a kind of links is for. */
interface LinkKind {
  /** No key of one purpose is good for another. */
  readonly purpose: string;
  /** Ten are 80 bits, which nobody tries out over the network. With the number a multiple of five. */
  readonly proofBytes: number;
}

/** 24 characters. */
export const INVITATION_LINKS: LinkKind = { purpose: 'invitation', proofBytes: 10 };
/** 40 characters. */
export const CONFIRMATION_LINKS: LinkKind = { purpose: 'confirmation', proofBytes: 20 };

/**
 * The number of what a link opens, and a proof that this server gave the link out: nothing of a key has to be stored. The number
 * is covered up, so that keys tell nothing about each other.
 */
export class HmacLinkKeys implements LinkKeys {
  private readonly proofKey: Buffer;
  private readonly coverKey: Buffer;
  private readonly proofBytes: number;
  private readonly length: number;

  constructor(secret: string, { purpose, proofBytes }: LinkKind) {
    this.proofKey = hmac(secret, `parley: proofs of ${purpose} keys`);
    this.coverKey = hmac(secret, `parley: covers of ${purpose} keys`);
    this.proofBytes = proofBytes;
    this.length = ((proofBytes + ID_BYTES) * 8) / 5;
  }

  derive(linkId: number): string {
    const proof = this.proofOf(linkId);
    const id = Buffer.alloc(ID_BYTES);
    id.writeUIntBE(linkId, 0, ID_BYTES);
    return toBase32(Buffer.concat([proof, this.cover(id, proof)]));
  }

  read(key: string): number | null {
    if (key.length !== this.length || !BASE32.test(key)) return null;
    const bytes = fromBase32(key);
    const proof = bytes.subarray(0, this.proofBytes);
    const id = this.cover(bytes.subarray(this.proofBytes), proof).readUIntBE(0, ID_BYTES);
    return timingSafeEqual(proof, this.proofOf(id)) ? id : null;
  }

  private proofOf(linkId: number): Buffer {
    return hmac(this.proofKey, String(linkId)).subarray(0, this.proofBytes);
  }

  /** Its own inverse. */
  private cover(id: Buffer, proof: Buffer): Buffer {
    const mask = hmac(this.coverKey, proof);
    return Buffer.from(id.map((byte, index) => byte ^ mask[index]!));
  }
}

function toBase32(bytes: Buffer): string {
  let key = '';
  let bits = 0;
  let count = 0;
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    count += 8;
    for (; count >= 5; count -= 5) key += ALPHABET[(bits >> (count - 5)) & 31];
    bits &= 31;
  }
  return key;
}

function fromBase32(key: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const character of key) {
    bits = (bits << 5) | ALPHABET.indexOf(character);
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes.push(bits >> count);
    bits &= (1 << count) - 1;
  }
  return Buffer.from(bytes);
}

function hmac(key: string | Buffer, text: string | Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
