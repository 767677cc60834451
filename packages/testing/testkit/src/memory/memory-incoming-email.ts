import type { BouncedAddress, BouncedAddressRepository, SeededLink } from '@parley/domain/access';
import { foldCase, type UnixSeconds } from '@parley/domain/kernel';
import type { ReplyAddress, ReplyAddressRepository } from '@parley/domain/push';
import { type MemoryUnit, newSeed } from './tables.js';

type OpenAddress = ReplyAddress & { readonly conversation: string };

declare module './tables.js' {
  interface Tables {
    readonly replyAddresses: Map<number, OpenAddress>;
    /** Rows by address in folded case. */
    readonly bouncedAddresses: Map<string, BouncedAddress>;
  }
}

export class MemoryReplyAddresses implements ReplyAddressRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(wanted: number): Promise<ReplyAddress | null> {
    const row = this.unit.read('replyAddresses').get(wanted);
    if (!row) return null;
    const { conversation: _, ...address } = row;
    return address;
  }

  async open(address: Omit<OpenAddress, 'id' | 'seed'>): Promise<SeededLink> {
    const present = [...this.unit.read('replyAddresses').values()].find(
      ({ userId, conversation }) => userId === address.userId && conversation === address.conversation,
    );
    const id = present?.id ?? this.unit.nextNumber('replyAddresses');
    const seed = present ? present.seed : newSeed();
    this.unit.change('replyAddresses').set(id, { ...address, id, seed });
    return { id, seed };
  }

  async removeExpired(now: UnixSeconds, limit: number): Promise<number> {
    const expired = [...this.unit.read('replyAddresses').values()].filter(({ expiresAt }) => expiresAt < now);
    for (const { id } of expired.slice(0, limit)) this.unit.change('replyAddresses').delete(id);
    return Math.min(expired.length, limit);
  }
}

export class MemoryBouncedAddresses implements BouncedAddressRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(email: string): Promise<BouncedAddress | null> {
    return this.unit.read('bouncedAddresses').get(foldCase(email)) ?? null;
  }

  async list(limit: number): Promise<readonly BouncedAddress[]> {
    const rows = [...this.unit.read('bouncedAddresses').values()];
    return rows.sort((a, b) => b.bouncedAt - a.bouncedAt || (a.email < b.email ? -1 : 1)).slice(0, limit);
  }

  async put(bounced: BouncedAddress): Promise<void> {
    this.unit.change('bouncedAddresses').set(foldCase(bounced.email), bounced);
  }

  async remove(email: string): Promise<boolean> {
    return this.unit.change('bouncedAddresses').delete(foldCase(email));
  }

  async removeBefore(time: UnixSeconds, limit: number): Promise<number> {
    const old = [...this.unit.read('bouncedAddresses')].filter(([, { bouncedAt }]) => bouncedAt < time);
    for (const [key] of old.slice(0, limit)) this.unit.change('bouncedAddresses').delete(key);
    return Math.min(old.length, limit);
  }
}
