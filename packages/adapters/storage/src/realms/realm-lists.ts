import type { NewRow, RealmId } from '@parley/domain/kernel';
import {
  ALLOWED_DOMAIN_ROWS,
  LINKIFIER_ROWS,
  type LinkifierRow,
  type ListedDomain,
  PLAYGROUND_ROWS,
  type Playground,
} from '@parley/domain/realms';
import { SqlRows, Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';

export const ALLOWED_DOMAIN_TABLE = new Table<ListedDomain>(ALLOWED_DOMAIN_ROWS, {
  columns: { domain: 'text', allowsSubdomains: 'flag' },
  indices: ['UNIQUE INDEX allowed_domain_by_name ON allowed_domain (realm_id, domain)'],
});

export const PLAYGROUND_TABLE = new Table<Playground>(PLAYGROUND_ROWS, {
  columns: { name: 'text', language: 'text', urlTemplate: 'text' },
  indices: ['INDEX playground_by_realm ON playground (realm_id, id)'],
});

/** Linkifiers are also read with the realm. The realm's version increases with each change. */
export class SqlLinkifiers extends SqlRows<LinkifierRow> {
  private readonly ofRealms = this.select(`realm_id ${this.connection.dialect.inSet} ORDER BY realm_id, position`);
  private readonly renewRealm = this.connection.command('UPDATE realm SET version = version + 1 WHERE id = ?');

  async listOf(realmIds: readonly RealmId[]): Promise<readonly LinkifierRow[]> {
    return (await this.ofRealms.all(this.connection.dialect.set(realmIds))).map(this.toRow);
  }

  override add(row: NewRow<LinkifierRow>, reserved: number | null = null): Promise<LinkifierRow> {
    this.renew(row.realmId);
    return super.add(row, reserved);
  }

  override update(row: LinkifierRow): Promise<void> {
    this.renew(row.realmId);
    return super.update(row);
  }

  override remove(realmId: number, id: number): Promise<void> {
    this.renew(realmId);
    return super.remove(realmId, id);
  }

  private renew(realmId: number): void {
    this.connection.disableCaching();
    this.renewRealm.defer(realmId);
  }
}

export const LINKIFIER_TABLE = new Table<LinkifierRow>(
  LINKIFIER_ROWS,
  {
    columns: {
      position: 'int',
      pattern: 'text',
      urlTemplate: 'text',
      exampleInput: 'text?',
      reverseTemplate: 'text?',
      alternativeUrlTemplates: 'texts',
    },
    indices: ['INDEX linkifier_in_order ON linkifier (realm_id, position)'],
  },
  SqlLinkifiers,
);

export const REALM_LIST_FEATURE = {
  rows: { allowedDomains: ALLOWED_DOMAIN_TABLE, playgrounds: PLAYGROUND_TABLE, linkifiers: LINKIFIER_TABLE },
} satisfies StorageFeature;
