import { DomainError, type RealmId } from '@parley/domain/kernel';
import type { Linkifier, LinkifierRow, NewRealmRow, Realm, RealmRepository } from '@parley/domain/realms';
import { ascending, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly realms: Map<RealmId, Omit<Realm, 'linkifiers'>>;
  }
}

const NONE: readonly Linkifier[] = [];
/** Realm objects by table row. */
const realms = new WeakMap<Omit<Realm, 'linkifiers'>, Realm>();

export class MemoryRealms implements RealmRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(id: RealmId): Promise<Realm | null> {
    const row = this.unit.read('realms').get(id);
    if (!row) return null;
    const linkifiers = this.linkifiersOf(id);
    const existing = realms.get(row);
    if (existing?.linkifiers === linkifiers) return existing;
    const realm = { ...row, linkifiers };
    realms.set(row, realm);
    return realm;
  }

  async get(id: RealmId): Promise<Realm> {
    const realm = await this.find(id);
    if (!realm) throw new DomainError('UNKNOWN_REALM', 'Unknown organization');
    return realm;
  }

  async findByStringId(stringId: string): Promise<Realm | null> {
    return (await this.list()).find((realm) => realm.stringId === stringId) ?? null;
  }

  async list(): Promise<readonly Realm[]> {
    return Promise.all([...this.unit.read('realms').keys()].map((id) => this.get(id)));
  }

  async add(realm: NewRealmRow): Promise<RealmId> {
    if (await this.findByStringId(realm.stringId))
      throw new DomainError('STRING_ID_TAKEN', 'Subdomain already in use.');
    if (realm.isAtServerAddress && (await this.list()).some((other) => other.isAtServerAddress)) {
      throw new DomainError('STRING_ID_TAKEN', 'The address of the server is taken.');
    }
    const id = this.unit.nextNumber<RealmId>('realm');
    this.unit.change('realms').set(id, { ...realm, id, permissions: {} as Realm['permissions'] });
    return id;
  }

  private linkifiersOf(id: RealmId): readonly Linkifier[] {
    const rows = ([...this.unit.read('rows of linkifier').values()] as LinkifierRow[])
      .filter(({ realmId }) => realmId === id)
      .sort((a, b) => ascending(a.position, b.position));
    return rows.length === 0 ? NONE : rows.map(({ realmId: _, position: __, ...linkifier }) => linkifier);
  }

  async update({ linkifiers: _linkifiers, ...realm }: Realm): Promise<void> {
    await this.get(realm.id);
    this.unit.change('realms').set(realm.id, realm);
  }
}
