import { ROWS } from '@parley/domain/composition';
import {
  compareCodePoints,
  type MessageId,
  type NewRow,
  type RealmId,
  type RealmRow,
  type RowRules,
  requireFreeKey,
  rowKey,
  type Transaction,
} from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

type Fields = Readonly<Record<string, unknown>>;

declare module './tables.js' {
  interface Tables {
    readonly [table: `rows of ${string}`]: Map<number, RealmRow>;
  }
}

/** Creates the repositories that all storages implement in the same way. */
export const rowsOf = (unit: MemoryUnit) =>
  Object.fromEntries(
    Object.entries<RowRules>(ROWS).map(([name, rules]) => [name, new MemoryRows(unit, rules)]),
  ) as object as Pick<Transaction, keyof typeof ROWS>;

/** Parameters named `owner` are the realm's id and, for rows of users, the user's. */
export class MemoryRows<Row extends RealmRow> {
  protected readonly table;
  private readonly owner: readonly string[];

  constructor(
    protected readonly unit: MemoryUnit,
    private readonly rules: RowRules,
  ) {
    this.table = `rows of ${rules.kind}` as const;
    this.owner = rules.owner === 'user' ? ['realmId', 'userId'] : ['realmId'];
  }

  async find(...ownerAndId: readonly number[]): Promise<Row | null> {
    return this.of(ownerAndId.slice(0, -1)).find(({ id }) => id === ownerAndId.at(-1)) ?? null;
  }

  async findByKey(realmId: number, value: string): Promise<Row | null> {
    const unique = this.rules.unique!;
    const isMeant = (row: Fields) =>
      rowKey(unique, row[unique.property] as string) === rowKey(unique, value) && !row[unique.unless ?? ''];
    return (await this.list(realmId)).find((row) => isMeant(row as Fields)) ?? null;
  }

  async list(...ownerAndLimit: readonly (number | undefined)[]): Promise<readonly Row[]> {
    const { hidden } = this.rules;
    return this.of(ownerAndLimit.slice(0, this.owner.length))
      .filter((row) => !hidden || (row as Fields)[hidden.property] !== hidden.value)
      .sort((a, b) => this.compare(a as Fields, b as Fields))
      .slice(0, ownerAndLimit[this.owner.length]);
  }

  async count(...owner: readonly number[]): Promise<number> {
    return (await this.list(...owner)).length;
  }

  async countBytes(...owner: readonly number[]): Promise<number> {
    const { texts = [] } = this.rules;
    const all = (await this.list(...owner)).flatMap((row) => texts.map((text) => (row as Fields)[text] as string));
    return all.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  }

  async add(row: NewRow<Row>, reserved: Row['id'] | null = null): Promise<Row> {
    await requireFreeKey(this.rules, this, row);
    const id = reserved ?? this.newId();
    const { place } = this.rules;
    const added = { ...(place !== undefined && { [place]: id }), ...row, id } as object as Row;
    this.unit.change(this.table).set(id, added);
    return added;
  }

  async update(row: Row): Promise<void> {
    await requireFreeKey(this.rules, this, row);
    const owner = this.owner.map((property) => (row as Fields)[property]);
    if (this.of(owner).some(({ id }) => id === row.id)) this.unit.change(this.table).set(row.id, row);
  }

  async remove(...ownerAndId: readonly number[]): Promise<void> {
    if (await this.find(...ownerAndId)) this.unit.change(this.table).delete(ownerAndId.at(-1)!);
  }

  async removeAll(...owner: readonly number[]): Promise<void> {
    for (const { id } of this.of(owner)) this.unit.change(this.table).delete(id);
  }

  async filterMessages(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const named = ids.filter((id) => this.about(realmId, id).length > 0);
    return [...new Set(named)].sort((a, b) => a - b);
  }

  async listOfMessage(realmId: RealmId, id: MessageId, after: number, limit: number): Promise<readonly Row[]> {
    const found = this.about(realmId, id).filter((row) => row.id > after);
    return found.sort((a, b) => a.id - b.id).slice(0, limit);
  }

  private about(realmId: RealmId, messageId: MessageId): Row[] {
    const { message } = this.rules;
    return this.all().filter((row) => row.realmId === realmId && (row as Fields)[message!] === messageId);
  }

  protected newId(): number {
    return this.unit.nextNumber(this.rules.kind);
  }

  /** `owner`: values of the first properties of the owner. */
  protected of(owner: readonly unknown[]): Row[] {
    return this.all().filter((row) => owner.every((value, n) => (row as Fields)[this.owner[n]!] === value));
  }

  /** Returns the rows of all owners. */
  protected all(): Row[] {
    return [...this.unit.read(this.table).values()] as Row[];
  }

  private compare(a: Fields, b: Fields): number {
    for (const by of this.rules.order) {
      const [x, y] = [a[by.replace('-', '')], b[by.replace('-', '')]];
      const difference = typeof x === 'string' ? compareCodePoints(x, y as string) : (x as number) - (y as number);
      if (difference !== 0) return by.startsWith('-') ? -difference : difference;
    }
    return 0;
  }
}
