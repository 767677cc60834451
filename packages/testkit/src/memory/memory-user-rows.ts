import { USER_ROWS } from '@parley/domain/composition';
import type { NewUserRow, RealmId, Transaction, UserId, UserRow, UserRowRules, UserRows } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

type Fields = Readonly<Record<string, unknown>>;

declare module './tables.js' {
  interface Tables {
    readonly [table: `rows of ${string}`]: Map<number, UserRow & Fields>;
  }
}

/** Creates the user row repositories that all storages implement in the same way. */
export const userRowsOf = (unit: MemoryUnit) =>
  Object.fromEntries(
    Object.entries(USER_ROWS).map(([name, rules]) => [name, new MemoryUserRows(unit, rules as UserRowRules)]),
  ) as unknown as Pick<Transaction, keyof typeof USER_ROWS>;

class MemoryUserRows implements UserRows<UserRow & Fields> {
  private readonly table;

  constructor(
    private readonly unit: MemoryUnit,
    private readonly rules: UserRowRules,
  ) {
    this.table = `rows of ${rules.kind}` as const;
  }

  async find(realmId: RealmId, userId: UserId, id: number): Promise<(UserRow & Fields) | null> {
    const row = this.unit.read(this.table).get(id);
    return row?.realmId === realmId && row.userId === userId ? row : null;
  }

  async list(realmId: RealmId, userId: UserId, limit?: number): Promise<readonly (UserRow & Fields)[]> {
    const rows = [...this.unit.read(this.table).values()];
    return rows
      .filter((row) => row.realmId === realmId && row.userId === userId)
      .sort((a, b) => this.compare(a, b))
      .slice(0, limit);
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.list(realmId, userId)).length;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    const texts = (await this.list(realmId, userId)).flatMap((row) => this.rules.texts.map((text) => row[text]));
    return texts.reduce<number>((sum, text) => sum + Buffer.byteLength(text as string), 0);
  }

  async add(row: NewUserRow<UserRow & Fields>, reserved: number | null = null): Promise<UserRow & Fields> {
    const added = { ...row, id: reserved ?? this.unit.nextNumber(this.rules.kind) } as UserRow & Fields;
    this.unit.change(this.table).set(added.id, added);
    return added;
  }

  async update(row: UserRow & Fields): Promise<void> {
    const { realmId, userId, id } = row;
    if (await this.find(realmId, userId, id)) this.unit.change(this.table).set(id, row);
  }

  async remove(realmId: RealmId, userId: UserId, id: number): Promise<void> {
    if (await this.find(realmId, userId, id)) this.unit.change(this.table).delete(id);
  }

  async removeAll(realmId: RealmId, userId: UserId): Promise<void> {
    for (const { id } of await this.list(realmId, userId)) this.unit.change(this.table).delete(id);
  }

  private compare(a: Fields, b: Fields): number {
    for (const by of this.rules.order) {
      const property = by.replace('-', '');
      const difference = (a[property] as number) - (b[property] as number);
      if (difference !== 0) return by.startsWith('-') ? -difference : difference;
    }
    return 0;
  }
}
