import type { RealmId } from '@parley/domain/kernel';
import {
  ALLOWED_DOMAIN_ROWS,
  type Linkifier,
  type LinkifierFields,
  type LinkifierRepository,
  type ListedDomain,
  PLAYGROUND_ROWS,
  type Playground,
} from '@parley/domain/realms';
import { Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import type { Quarantine } from '../engine/quarantine.js';
import { listColumn } from '../engine/rows.js';
import type { Parameter, Statements } from '../engine/statements.js';

export const ALLOWED_DOMAIN_TABLE = new Table<ListedDomain>(ALLOWED_DOMAIN_ROWS, {
  columns: { domain: 'text', allowsSubdomains: 'flag' },
  indices: ['UNIQUE INDEX allowed_domain_by_name ON allowed_domain (realm_id, domain)'],
});

export const PLAYGROUND_TABLE = new Table<Playground>(PLAYGROUND_ROWS, {
  columns: { name: 'text', language: 'text', urlTemplate: 'text' },
  indices: ['INDEX playground_by_realm ON playground (realm_id, id)'],
});

/** Linkifiers read with the realm, whose version increases with each change. */
export class SqlLinkifierRepository implements LinkifierRepository {
  private readonly insert;
  private readonly store;
  private readonly delete;
  private readonly place;
  private readonly renewRealm;

  constructor(private readonly connection: Statements) {
    this.insert = connection.values<number>(
      `INSERT INTO linkifier (pattern, url_template, example_input, reverse_template, alternative_url_templates,
                              realm_id, position)
       SELECT ?, ?, ?, ?, ?, realm.id,
              coalesce((SELECT max(position) FROM linkifier WHERE realm_id = realm.id), 0) + 1
       FROM realm WHERE realm.id = ? RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE linkifier
       SET pattern = ?, url_template = ?, example_input = ?, reverse_template = ?, alternative_url_templates = ?
       WHERE id = ? AND realm_id = ?`,
    );
    this.delete = connection.command('DELETE FROM linkifier WHERE id = ? AND realm_id = ?');
    this.place = connection.command(
      `UPDATE linkifier SET position = key FROM ${connection.dialect.elements('bigint')}
       WHERE linkifier.id = value AND realm_id = ?`,
    );
    this.renewRealm = connection.command('UPDATE realm SET version = version + 1 WHERE id = ?');
  }

  async add(realmId: RealmId, linkifier: LinkifierFields): Promise<number> {
    this.renew(realmId);
    return (await this.insert.get(...fromLinkifier(linkifier), realmId))!;
  }

  async update(realmId: RealmId, linkifier: Linkifier): Promise<boolean> {
    this.renew(realmId);
    return (await this.store.run(...fromLinkifier(linkifier), linkifier.id, realmId)).changes > 0;
  }

  async remove(realmId: RealmId, id: number): Promise<boolean> {
    this.renew(realmId);
    return (await this.delete.run(id, realmId)).changes > 0;
  }

  async reorder(realmId: RealmId, ids: readonly number[]): Promise<void> {
    this.renew(realmId);
    this.place.defer(this.connection.dialect.set(ids), realmId);
  }

  private renew(realmId: RealmId): void {
    this.connection.disableCaching();
    this.renewRealm.defer(realmId);
  }
}

const templates = listColumn<string>('linkifier', 'alternative_url_templates', (value) => typeof value === 'string');

export interface LinkifierRow {
  readonly id: number;
  readonly pattern: string;
  readonly url_template: string;
  readonly example_input: string | null;
  readonly reverse_template: string | null;
  readonly alternative_url_templates: string;
}

export const toLinkifier = (row: LinkifierRow, quarantine: Quarantine): Linkifier => ({
  id: row.id,
  pattern: row.pattern,
  urlTemplate: row.url_template,
  exampleInput: row.example_input,
  reverseTemplate: row.reverse_template,
  alternativeUrlTemplates: templates(row.alternative_url_templates, row.id, quarantine),
});

const fromLinkifier = (linkifier: LinkifierFields): readonly Parameter[] => [
  linkifier.pattern,
  linkifier.urlTemplate,
  linkifier.exampleInput,
  linkifier.reverseTemplate,
  JSON.stringify(linkifier.alternativeUrlTemplates),
];

export const REALM_LIST_FEATURE = {
  repositories: (parts) => (connection) => ({
    ...ALLOWED_DOMAIN_TABLE.repositories('allowedDomains')(parts)(connection),
    ...PLAYGROUND_TABLE.repositories('playgrounds')(parts)(connection),
    linkifiers: new SqlLinkifierRepository(connection),
  }),
} satisfies StorageFeature;
