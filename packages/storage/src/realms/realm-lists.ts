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
import type { StorageFeature } from '../engine/feature.js';
import type { Quarantine } from '../engine/quarantine.js';
import { type Flag, listColumn, toFlag } from '../engine/rows.js';
import type { Parameter, Statements } from '../engine/statements.js';

export class SqlAllowedDomainRepository implements AllowedDomainRepository {
  private readonly all;
  private readonly insert;
  private readonly store;
  private readonly delete;

  constructor(connection: Statements) {
    this.all = connection.rows<AllowedDomainRow>(
      `SELECT id, domain, allows_subdomains FROM allowed_domain WHERE realm_id = ? ORDER BY id`,
    );
    this.insert = connection.values<number>(
      `INSERT INTO allowed_domain (realm_id, domain, allows_subdomains) VALUES (?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.store = connection.command(
      'UPDATE allowed_domain SET allows_subdomains = ? WHERE realm_id = ? AND domain = ?',
    );
    this.delete = connection.command('DELETE FROM allowed_domain WHERE realm_id = ? AND domain = ?');
  }

  async list(realmId: RealmId): Promise<readonly ListedDomain[]> {
    return (await this.all.all(realmId)).map(({ id, domain, allows_subdomains: flag }) => ({
      id,
      domain,
      allowsSubdomains: flag === 1,
    }));
  }

  async add(realmId: RealmId, { domain, allowsSubdomains }: AllowedDomain): Promise<number> {
    const id = await this.insert.get(realmId, domain, toFlag(allowsSubdomains));
    if (id === undefined) throw domainExists(domain);
    return id;
  }

  async update(realmId: RealmId, { domain, allowsSubdomains }: AllowedDomain): Promise<boolean> {
    return (await this.store.run(toFlag(allowsSubdomains), realmId, domain)).changes > 0;
  }

  async remove(realmId: RealmId, domain: string): Promise<boolean> {
    return (await this.delete.run(realmId, domain)).changes > 0;
  }
}

const domainExists = (domain: string) =>
  new DomainError('ALLOWED_DOMAIN_EXISTS', `The domain ${domain} is already a part of your organization.`);

interface AllowedDomainRow {
  readonly id: number;
  readonly domain: string;
  readonly allows_subdomains: Flag;
}

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

export class SqlPlaygroundRepository implements PlaygroundRepository {
  private readonly all;
  private readonly insert;
  private readonly delete;

  constructor(connection: Statements) {
    this.all = connection.rows<PlaygroundRow>(
      'SELECT id, name, language, url_template FROM playground WHERE realm_id = ? ORDER BY id',
    );
    this.insert = connection.values<number>(
      'INSERT INTO playground (realm_id, name, language, url_template) VALUES (?, ?, ?, ?) RETURNING id',
    );
    this.delete = connection.command('DELETE FROM playground WHERE id = ? AND realm_id = ?');
  }

  async list(realmId: RealmId): Promise<readonly Playground[]> {
    return (await this.all.all(realmId)).map(({ url_template: urlTemplate, ...row }) => ({ ...row, urlTemplate }));
  }

  async add(realmId: RealmId, { name, language, urlTemplate }: PlaygroundFields): Promise<number> {
    return (await this.insert.get(realmId, name, language, urlTemplate))!;
  }

  async remove(realmId: RealmId, id: number): Promise<boolean> {
    return (await this.delete.run(id, realmId)).changes > 0;
  }
}

interface PlaygroundRow {
  readonly id: number;
  readonly name: string;
  readonly language: string;
  readonly url_template: string;
}

export const REALM_LIST_FEATURE = {
  repositories: () => (connection) => ({
    allowedDomains: new SqlAllowedDomainRepository(connection),
    linkifiers: new SqlLinkifierRepository(connection),
    playgrounds: new SqlPlaygroundRepository(connection),
  }),
} satisfies StorageFeature;
