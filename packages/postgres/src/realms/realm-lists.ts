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
import { type Flag, listColumn, type Parameter, type Quarantine, toFlag } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresAllowedDomainRepository implements AllowedDomainRepository {
  private readonly all;
  private readonly insert;
  private readonly store;
  private readonly delete;

  constructor(connection: Connection) {
    this.all = connection.rows<AllowedDomainRow>(
      `SELECT id, domain, allows_subdomains FROM allowed_domain WHERE realm_id = $1 ORDER BY id`,
    );
    this.insert = connection.values<number>(
      `INSERT INTO allowed_domain (realm_id, domain, allows_subdomains) VALUES ($1, $2, $3)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.store = connection.command(
      'UPDATE allowed_domain SET allows_subdomains = $1 WHERE realm_id = $2 AND domain = $3',
    );
    this.delete = connection.command('DELETE FROM allowed_domain WHERE realm_id = $1 AND domain = $2');
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
export class LinkifierReads {
  private readonly all;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
  ) {
    this.all = connection.rows<LinkifierRow>(
      `SELECT id, realm_id, pattern, url_template, example_input, reverse_template, alternative_url_templates
       FROM linkifier WHERE realm_id = ANY($1) ORDER BY realm_id, position`,
    );
  }

  async listOf(realmIds: readonly RealmId[]): Promise<ReadonlyMap<RealmId, readonly Linkifier[]>> {
    const lists = new Map<RealmId, Linkifier[]>(realmIds.map((id) => [id, []]));
    for (const row of await this.all.all(realmIds)) {
      lists.get(row.realm_id)!.push({
        id: row.id,
        pattern: row.pattern,
        urlTemplate: row.url_template,
        exampleInput: row.example_input,
        reverseTemplate: row.reverse_template,
        alternativeUrlTemplates: templates(row.alternative_url_templates, row.id, this.quarantine),
      });
    }
    return lists;
  }
}

export class PostgresLinkifierRepository implements LinkifierRepository {
  private readonly insert;
  private readonly store;
  private readonly delete;
  private readonly place;
  private readonly renewRealm;

  constructor(private readonly connection: Connection) {
    this.insert = connection.values<number>(
      `INSERT INTO linkifier (pattern, url_template, example_input, reverse_template, alternative_url_templates,
                              realm_id, position)
       SELECT $1, $2, $3, $4, $5, realm.id,
              coalesce((SELECT max(position) FROM linkifier WHERE realm_id = realm.id), 0) + 1
       FROM realm WHERE realm.id = $6 RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE linkifier
       SET pattern = $1, url_template = $2, example_input = $3, reverse_template = $4, alternative_url_templates = $5
       WHERE id = $6 AND realm_id = $7`,
    );
    this.delete = connection.command('DELETE FROM linkifier WHERE id = $1 AND realm_id = $2');
    this.place = connection.command(
      `UPDATE linkifier SET position = place.number
       FROM unnest($1::bigint[]) WITH ORDINALITY place (id, number)
       WHERE linkifier.id = place.id AND linkifier.realm_id = $2`,
    );
    this.renewRealm = connection.command('UPDATE realm SET version = version + 1 WHERE id = $1');
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
    this.place.defer(ids, realmId);
  }

  private renew(realmId: RealmId): void {
    this.connection.disableCaching();
    this.renewRealm.defer(realmId);
  }
}

const templates = listColumn<string>('linkifier', 'alternative_url_templates', (value) => typeof value === 'string');

interface LinkifierRow {
  readonly realm_id: RealmId;
  readonly id: number;
  readonly pattern: string;
  readonly url_template: string;
  readonly example_input: string | null;
  readonly reverse_template: string | null;
  readonly alternative_url_templates: string;
}

const fromLinkifier = (linkifier: LinkifierFields): readonly Parameter[] => [
  linkifier.pattern,
  linkifier.urlTemplate,
  linkifier.exampleInput,
  linkifier.reverseTemplate,
  JSON.stringify(linkifier.alternativeUrlTemplates),
];

export class PostgresPlaygroundRepository implements PlaygroundRepository {
  private readonly all;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.all = connection.rows<PlaygroundRow>(
      'SELECT id, name, language, url_template FROM playground WHERE realm_id = $1 ORDER BY id',
    );
    this.insert = connection.values<number>(
      'INSERT INTO playground (realm_id, name, language, url_template) VALUES ($1, $2, $3, $4) RETURNING id',
    );
    this.delete = connection.command('DELETE FROM playground WHERE id = $1 AND realm_id = $2');
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
    allowedDomains: new PostgresAllowedDomainRepository(connection),
    linkifiers: new PostgresLinkifierRepository(connection),
    playgrounds: new PostgresPlaygroundRepository(connection),
  }),
} satisfies PostgresFeature;
