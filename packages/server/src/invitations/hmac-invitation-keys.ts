import { createHmac, timingSafeEqual } from 'node:crypto';
import type { InvitationKeys } from '@parley/domain/invitations';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_BYTES = 5;
/** 80 bits, which nobody tries out over the network. */
const PROOF_BYTES = 10;
const KEY = /^[a-z2-7]{24}$/;

/**
 * The number of the invitation, and a proof that this server gave it out: nothing of a key has to be stored. The number is
 * covered up, so that keys tell nothing about each other.
 */
export class HmacInvitationKeys implements InvitationKeys {
  private readonly proofKey: Buffer;
  private readonly coverKey: Buffer;

  constructor(secret: string) {
    this.proofKey = hmac(secret, 'parley: proofs of invitation keys');
    this.coverKey = hmac(secret, 'parley: covers of invitation keys');
  }

  derive(invitationId: number): string {
    const proof = this.proofOf(invitationId);
    const id = Buffer.alloc(ID_BYTES);
    id.writeUIntBE(invitationId, 0, ID_BYTES);
    return toBase32(Buffer.concat([proof, this.cover(id, proof)]));
  }

  read(key: string): number | null {
    if (!KEY.test(key)) return null;
    const bytes = fromBase32(key);
    const proof = bytes.subarray(0, PROOF_BYTES);
    const id = this.cover(bytes.subarray(PROOF_BYTES), proof).readUIntBE(0, ID_BYTES);
    return timingSafeEqual(proof, this.proofOf(id)) ? id : null;
  }

  private proofOf(invitationId: number): Buffer {
    return hmac(this.proofKey, String(invitationId)).subarray(0, PROOF_BYTES);
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
