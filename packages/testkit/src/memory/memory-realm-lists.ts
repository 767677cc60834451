import { DomainError, type RealmId } from '@parley/domain/kernel';
import type {
  AllowedDomain,
  AllowedDomainRepository,
  Linkifier,
  LinkifierFields,
  LinkifierRepository,
  ListedDomain,
  Playground,
  PlaygroundFields,
  PlaygroundRepository,
} from '@parley/domain/realms';
import type { MemoryUnit, Tables } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly allowedDomains: Map<RealmId, readonly ListedDomain[]>;
    /** In order of application. */
    readonly linkifiers: Map<RealmId, readonly Linkifier[]>;
    readonly playgrounds: Map<RealmId, readonly Playground[]>;
  }
}

type ListName = 'allowedDomains' | 'linkifiers' | 'playgrounds';
type Row<N extends ListName> = Tables[N] extends Map<RealmId, readonly (infer R)[]> ? R : never;

/** Short list per realm. */
abstract class RealmLists<N extends ListName> {
  constructor(
    protected readonly unit: MemoryUnit,
    private readonly name: N,
  ) {}

  async list(realmId: RealmId): Promise<readonly Row<N>[]> {
    return (this.unit.read(this.name).get(realmId) ?? []) as readonly Row<N>[];
  }

  protected put(realmId: RealmId, rows: readonly Row<N>[]): void {
    (this.unit.change(this.name) as Map<RealmId, readonly Row<N>[]>).set(realmId, rows);
  }

  /** Returns true if the entry existed. */
  protected async replace(
    realmId: RealmId,
    isMeant: (row: Row<N>) => boolean,
    by: readonly Row<N>[] | ((row: Row<N>) => readonly Row<N>[]),
  ): Promise<boolean> {
    const rows = await this.list(realmId);
    if (!rows.some(isMeant)) return false;
    this.put(
      realmId,
      rows.flatMap((row) => (isMeant(row) ? (typeof by === 'function' ? by(row) : by) : [row])),
    );
    return true;
  }
}

export class MemoryAllowedDomains extends RealmLists<'allowedDomains'> implements AllowedDomainRepository {
  constructor(unit: MemoryUnit) {
    super(unit, 'allowedDomains');
  }

  async add(realmId: RealmId, { domain, allowsSubdomains }: AllowedDomain): Promise<number> {
    const rows = await this.list(realmId);
    if (rows.some((row) => row.domain === domain)) {
      throw new DomainError('ALLOWED_DOMAIN_EXISTS', `The domain ${domain} is already a part of your organization.`);
    }
    const id = this.unit.nextNumber('allowedDomain');
    this.put(realmId, [...rows, { id, domain, allowsSubdomains }]);
    return id;
  }

  update(realmId: RealmId, { domain, allowsSubdomains }: AllowedDomain): Promise<boolean> {
    return this.replace(
      realmId,
      (row) => row.domain === domain,
      (row) => [{ ...row, allowsSubdomains }],
    );
  }

  remove(realmId: RealmId, domain: string): Promise<boolean> {
    return this.replace(realmId, (row) => row.domain === domain, []);
  }
}

export class MemoryLinkifiers extends RealmLists<'linkifiers'> implements LinkifierRepository {
  constructor(unit: MemoryUnit) {
    super(unit, 'linkifiers');
  }

  async add(realmId: RealmId, linkifier: LinkifierFields): Promise<number> {
    const id = this.unit.nextNumber('linkifier');
    this.put(realmId, [...(await this.list(realmId)), { ...linkifier, id }]);
    return id;
  }

  update(realmId: RealmId, linkifier: Linkifier): Promise<boolean> {
    return this.replace(realmId, ({ id }) => id === linkifier.id, [linkifier]);
  }

  remove(realmId: RealmId, id: number): Promise<boolean> {
    return this.replace(realmId, (row) => row.id === id, []);
  }

  async reorder(realmId: RealmId, ids: readonly number[]): Promise<void> {
    const rows = new Map((await this.list(realmId)).map((row) => [row.id, row]));
    this.put(
      realmId,
      ids.map((id) => rows.get(id)!),
    );
  }
}

export class MemoryPlaygrounds extends RealmLists<'playgrounds'> implements PlaygroundRepository {
  constructor(unit: MemoryUnit) {
    super(unit, 'playgrounds');
  }

  async add(realmId: RealmId, playground: PlaygroundFields): Promise<number> {
    const id = this.unit.nextNumber('playground');
    this.put(realmId, [...(await this.list(realmId)), { ...playground, id }]);
    return id;
  }

  remove(realmId: RealmId, id: number): Promise<boolean> {
    return this.replace(realmId, (row) => row.id === id, []);
  }
}
